"""The HTTP door on TCP, asked through a socket with bytes of the test's own."""
import json
import socket


class Reply:
    def __init__(self, raw):
        self.raw = raw
        head, _, self.body = raw.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split()[1]) if raw.startswith(b"HTTP/1.1 ") else None
        self.headers = {k.lower(): v for k, v in (line.split(": ", 1) for line in lines[1:] if ": " in line)}

    @property
    def json(self):
        return json.loads(self.body)


class Door:
    def __init__(self, rem):
        self.rem = rem
        self.pid = rem.start()
        self.name = rem.json("status")["http"]
        self.host, _, port = self.name.rpartition(":")
        self.port = int(port)
        self.token_file = rem.home / "run" / "token"
        self.token = self.token_file.read_text().strip()

    def connect(self):
        return socket.create_connection((self.host.strip("[]"), self.port), timeout=40)

    def raw(self, data):
        """Sends bytes as they are and reads until the daemon closes."""
        with self.connect() as s:
            try:
                s.sendall(data)
            except OSError:
                pass
            return Reply(read_all(s))

    def ask(self, method, path, body=None, **headers):
        """`headers` with None are left out; a Host, the token and a length are there unless given otherwise."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else b""
        have = {"Host": self.name, "Authorization": "Bearer " + self.token, "Connection": "close"}
        if data or method == "POST":
            have["Content-Length"] = str(len(data))
        have.update({k.replace("_", "-"): v for k, v in headers.items()})
        head = "".join("%s: %s\r\n" % (k, v) for k, v in have.items() if v is not None)
        return self.raw(("%s %s HTTP/1.1\r\n%s\r\n" % (method, path, head)).encode("latin-1") + data)


def read_all(s):
    out = b""
    try:
        while True:
            more = s.recv(65536)
            if not more:
                return out
            out += more
    except (ConnectionResetError, TimeoutError):
        return out
