"""A PostgreSQL server for a benchmark, that of the tests, in a folder of its own; and statements typed into it."""
import os
import pathlib
import subprocess

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
SERVICE = TOP / "tests" / "services" / "postgres"
CACHE = pathlib.Path(os.environ.get("REMANENCE_TEST_CACHE") or pathlib.Path.home() / ".cache" / "remanence-tests")


class Server:
    def __init__(self, folder, options=""):
        self.folder = pathlib.Path(folder)
        env = {**os.environ, "PG_OPTIONS": options}
        out = subprocess.run([SERVICE, "start", CACHE, self.folder], check=True, capture_output=True, text=True, env=env).stdout
        where = dict(line.split("=", 1) for line in out.split())
        self.host, self.port = where["PGHOST"], int(where["PGPORT"])

    def url(self, schema, port=None):
        """Over the unix socket, or by TCP to another port in front of the server."""
        place = "host=%s&port=%d" % (("127.0.0.1", port) if port else (self.host, self.port))
        return "postgres://postgres@/postgres?%s&schema=%s" % (place, schema)

    def stop(self):
        subprocess.run([SERVICE, "stop", CACHE, self.folder], check=False)
