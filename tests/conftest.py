"""What the tests share: a data folder of their own for each, the programs under test, and a runner."""
import fcntl
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import model_server  # noqa: E402
from door import Door  # noqa: E402
from lib import Remanence  # noqa: E402

BUILD = pathlib.Path(os.environ.get("REMANENCE_TEST_BUILD", pathlib.Path(__file__).parent.parent / "build"))


@pytest.fixture
def build():
    return BUILD


@pytest.fixture
def scratch():
    """A short path (sockets have short names), removed afterwards."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="rem-", dir=os.environ.get("TMPDIR", "/tmp")))
    yield path
    shutil.rmtree(path, ignore_errors=True)


POSTGRES = [str(pathlib.Path(__file__).parent / "services" / "postgres")]
CACHE = os.environ.get("REMANENCE_TEST_CACHE", os.path.expanduser("~/.cache/remanence-tests"))
FOLDER = "REMANENCE_TEST_POSTGRES"  # of the server of this run, for all processes of it
# How long each test took last time: the longest begin first, so that no worker is left with one in the end.
TIMES = pathlib.Path(CACHE) / "times.json"


def pytest_configure(config):
    if FOLDER not in os.environ:
        os.environ[FOLDER] = tempfile.mkdtemp(prefix="rem-pg-", dir="/tmp")
        config.is_owner_of_postgres = True
        if TIMES.exists():
            shutil.copy(TIMES, os.environ[FOLDER])


def pytest_unconfigure(config):
    if getattr(config, "is_owner_of_postgres", False):
        folder = os.environ.pop(FOLDER)
        if (pathlib.Path(folder) / "data").exists():
            subprocess.run([*POSTGRES, "stop", CACHE, folder], check=False)
        shutil.rmtree(folder, ignore_errors=True)


def known_times(path):
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return {}


def pytest_collection_modifyitems(items):
    # All workers have to order alike, whatever another run writes meanwhile.
    known = known_times(pathlib.Path(os.environ[FOLDER]) / TIMES.name)
    items.sort(key=lambda item: -known.get(item.nodeid, 0))


def pytest_terminal_summary(terminalreporter):
    """In the one process that hears of all tests."""
    took = {}
    for reports in terminalreporter.stats.values():
        for r in reports:
            if hasattr(r, "duration") and hasattr(r, "nodeid"):
                took[r.nodeid] = round(took.get(r.nodeid, 0) + r.duration, 2)
    TIMES.parent.mkdir(parents=True, exist_ok=True)
    part = TIMES.with_suffix(".%d" % os.getpid())
    part.write_text(json.dumps({**known_times(TIMES), **took}))
    part.replace(TIMES)


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server, started once in a run by whoever needs it first: gives the url of a database."""
    if b"PostgreSQL %d; the store needs" not in (BUILD / "remanenced").read_bytes():
        pytest.skip("built without PostgreSQL")
    folder = os.environ[FOLDER]
    with open(folder + "/lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run([*POSTGRES, "start", CACHE, folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    where = dict(line.split("=", 1) for line in done.stdout.split())
    return "postgres://postgres@/postgres?host=%s&port=%s" % (where["PGHOST"], where["PGPORT"])


@pytest.fixture
def rem(scratch):
    """Remanence with an empty data folder and an empty user home; its daemon is stopped in the end."""
    r = Remanence(BUILD, scratch)
    yield r
    r.close()


@pytest.fixture
def door(rem):
    """The HTTP door of a running daemon."""
    return Door(rem)


@pytest.fixture
def server():
    """A scripted model server of the test's own."""
    with model_server.running() as s:
        yield s


@pytest.fixture(scope="module")
def shared_server():
    """A scripted model server for all tests of a file: each clears it first."""
    with model_server.running() as s:
        yield s
