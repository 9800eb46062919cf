"""The HTTP door on TCP, as attackers and scripts see it: everything goes through real sockets."""
import json
import os
import pathlib
import random
import re
import shlex
import socket
import sqlite3
import stat
import subprocess
import threading
import time
import urllib.parse

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from lib import ClaudeSession, Remanence, wait_for

BODY_MAX = 16 << 20
CONNECTIONS = 128


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


@pytest.fixture
def door(rem):
    return Door(rem)


def configured(rem, **settings):
    for key, value in settings.items():
        rem.run("config", "set", key.replace("__", "."), value)
    rem.run("stop")
    return Door(rem)


# --- The token. ---

def test_the_token_is_random_private_and_kept(door, scratch, build):
    assert stat.S_IMODE(door.token_file.stat().st_mode) == 0o600
    assert re.fullmatch(r"[0-9a-f]{64}\n", door.token_file.read_text())
    door.rem.run("stop")
    assert Door(door.rem).token == door.token
    (scratch / "b").mkdir()
    other = Remanence(build, scratch / "b")
    try:
        assert Door(other).token != door.token
    finally:
        other.close()


@pytest.mark.parametrize("spoil", ["others may read it", "a link", "a folder of links", "not a token", "empty", "two names"])
def test_a_token_file_that_is_not_private_is_replaced(door, scratch, spoil):
    door.rem.run("stop")
    path, elsewhere = door.token_file, scratch / "elsewhere"
    if spoil == "others may read it":
        path.chmod(0o644)
    elif spoil == "a link":
        path.rename(elsewhere)
        path.symlink_to(elsewhere)
    elif spoil == "a folder of links":
        path.unlink()
        path.symlink_to(scratch)
    elif spoil == "not a token":
        path.write_text("secret\n")
    elif spoil == "empty":
        path.write_text("")
    else:
        os.link(path, elsewhere)
    again = Door(door.rem)
    assert again.token != door.token and not path.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert again.ask("GET", "/health").status == 200
    assert again.ask("GET", "/health", Authorization="Bearer " + door.token).status == 401
    if spoil == "a link":
        assert elsewhere.read_text().strip() == door.token, "what the link led to is left alone"


WRONG = [None, "", "Bearer", "Bearer ", "Bearer x", "Bearer " + "0" * 64, "Bearer " + "0" * 63, "Bearer " + "0" * 65, "Basic {t}", "{t}",
         "Bearer {t}0", "Bearer {t}, Bearer {t}", "Bearer {T}", "Bearer {half}", "Bearer\t{t}"]


@pytest.mark.parametrize("value", WRONG)
def test_nothing_is_answered_without_the_right_token(door, value):
    t = door.token
    value = value and value.format(t=t, T=t.upper(), half=t[:32])
    for method, path in (("GET", "/health"), ("GET", "/stats"), ("POST", "/search"), ("GET", "/api/status"), ("POST", "/api/remember"),
                         ("GET", "/api/openapi.json"), ("GET", "/"), ("GET", "/nothing"), ("POST", "/ask"), ("OPTIONS", "/api/search")):
        reply = door.ask(method, path, b'{"text":"x"}' if method == "POST" else None, Authorization=value)
        assert reply.status == 401, (method, path)
        assert reply.headers["www-authenticate"].startswith("Bearer")
        assert "token" in reply.json["detail"]
        assert "x-remanence-build" not in reply.headers
    assert door.rem.json("stats", "--project", "all")["memories"]["note"] == 0


def test_the_token_is_not_taken_from_the_address(door):
    for query in ("token=" + door.token, "access_token=" + door.token, "Authorization=Bearer%20" + door.token):
        assert door.ask("GET", "/health?" + query, Authorization=None).status == 401


def test_the_token_shows_nowhere(door):
    rem = door.rem
    rem.run("config", "set", "log.level", "debug")
    door.ask("GET", "/api/status")
    door.ask("GET", "/api/search?query=" + "x" * 100, Authorization="Bearer wrong")
    door.ask("POST", "/api/nothing", {})
    door.raw(b"GET / HTTP/1.1\r\nAuthorization: Bearer " + door.token.encode() + b"\r\nbroken\r\n\r\n")
    shown = [rem.run(*args, check=False).out for args in (
        ("status", "--json"), ("doctor", "--json"), ("config", "list", "--json"), ("stats", "--json"), ("export",))]
    shown += [p.read_text(errors="replace") for p in (rem.home / "log").iterdir()]
    proc = pathlib.Path("/proc/%d" % door.pid)
    shown += [(proc / name).read_bytes().decode("latin-1") for name in ("cmdline", "environ")]
    assert not any(door.token in text for text in shown)


# --- Pages in browsers. ---

HOSTS = ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example:{port}", "localhost.evil.example:{port}", "127.0.0.1:1", "127.0.0.1",
         "localhost", "127.0.0.2:{port}", "0.0.0.0:{port}", "[::]:{port}", "user@127.0.0.1:{port}", "127.0.0.1:{port}/x", "127.0.0.1:{port}.",
         "127.0.0.1:", "[::1", "[::1]x:{port}", "127.0.0.1 :{port}", "", "127.0.0.1:0{port}0", "127.0.0.1:+{port}", "localhost.:{port}"]


@pytest.mark.parametrize("host", HOSTS)
def test_a_name_that_points_here_does_not_help(door, host):
    reply = door.ask("GET", "/api/status", Host=host.format(port=door.port))
    assert reply.status in (400, 403), reply.raw[:200]
    assert b"pid" not in reply.body


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "localhost:{port}", "LOCALHOST:{port}", "[::1]:{port}"])
def test_the_loopback_has_three_names(door, host):
    assert door.ask("GET", "/api/status", Host=host.format(port=door.port)).json["pid"] == door.pid


def test_a_request_has_one_host(door):
    head = "Authorization: Bearer %s\r\nConnection: close\r\n" % door.token
    for hosts in ([], [door.name, "evil.example"], ["evil.example", door.name], [door.name, door.name]):
        lines = "".join("Host: %s\r\n" % h for h in hosts)
        reply = door.raw(("GET /api/status HTTP/1.1\r\n%s%s\r\n" % (lines, head)).encode())
        assert reply.status in (400, 403), hosts
    assert door.raw(("GET /api/status HTTP/1.0\r\n%s\r\n" % head).encode()).status in (400, 403, None)
    assert door.raw(("GET http://evil.example/api/status HTTP/1.1\r\nHost: %s\r\n%s\r\n" % (door.name, head)).encode()).status == 404


ORIGINS = ["http://evil.example", "null", "http://127.0.0.1", "http://127.0.0.1:1", "https://evil.example:{port}", "file://", "",
           "http://{name}.evil.example", "http://{name}/", "ftp://{name}", "{name}", "http://localhost:{port}", "chrome-extension://abc"]


@pytest.mark.parametrize("origin", ORIGINS)
def test_a_page_of_another_site_gets_nothing(door, origin):
    origin = origin.format(port=door.port, name=door.name)
    for method, path in (("GET", "/api/status"), ("POST", "/api/status"), ("GET", "/health"), ("POST", "/search")):
        reply = door.ask(method, path, b"{}" if method == "POST" else None, Origin=origin)
        assert reply.status == 403, (method, path)
        assert b"pid" not in reply.body


def test_a_page_of_the_daemon_itself_may_ask(door):
    assert door.ask("GET", "/api/status", Origin="http://" + door.name).status == 200
    assert door.ask("GET", "/api/status", Origin="http://" + door.name, Sec_Fetch_Site="same-origin").status == 200
    for site in ("cross-site", "same-site", "anything"):
        assert door.ask("GET", "/api/status", Sec_Fetch_Site=site).status == 403


def test_no_reply_lets_another_site_read_it(door):
    replies = [door.ask("GET", "/api/status"), door.ask("GET", "/health"), door.ask("GET", "/nothing"),
               door.ask("GET", "/api/status", Origin="http://evil.example"), door.ask("GET", "/api/status", Authorization=None),
               door.ask("OPTIONS", "/api/search", Origin="http://evil.example", Access_Control_Request_Method="POST",
                        Access_Control_Request_Headers="authorization")]
    for reply in replies:
        assert not [h for h in reply.headers if h.startswith("access-control")]
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["cache-control"] == "no-store"
        assert "default-src 'none'" in reply.headers["content-security-policy"]
        assert "set-cookie" not in reply.headers
    assert replies[-1].status == 403


@pytest.mark.parametrize("method", ["TRACE", "CONNECT", "OPTIONS", "PUT", "DELETE", "PATCH", "PROPFIND", "get", "BREW"])
def test_other_methods_are_refused_and_echo_nothing(door, method):
    for path in ("/api/status", "/health", "/search", "/api/openapi.json"):
        reply = door.ask(method, path, X_Secret="echo-me")
        assert reply.status == 405, reply.raw[:300]
        assert set(reply.headers["allow"].split(", ")) <= {"GET", "POST"}
        assert b"echo-me" not in reply.raw and door.token.encode() not in reply.raw


def test_head_is_get_without_a_body(door):
    reply = door.ask("HEAD", "/health")
    assert (reply.status, reply.body) == (200, b"") and int(reply.headers["content-length"]) > 0


# --- Paths. ---

PATHS = ["/../health", "/./health", "//health", "/health/", "/health/.", "/%68ealth", "/health%00", "/health%2f", "/Health", "/health;x=1", "/%2e%2e/health",
         "/api/../health", "/api/..%2fhealth", "/api//status", "/api/status/", "/api/./status", "/api/%73tatus", "/api/status%00.png", "/api/",
         "/api", "/api/status%20", "/api/status;a", "/x/../api/status", "/..;/api/status", "/api\\status", "/health%23", "/etc/passwd", "/ask", "health",
         "*", "/%", "/%zz", "/api/%c0%ae%c0%ae/status", "/%u002e/", "/api/status.json", "/api/hook", "/api/install", "/api/" + "a" * 5000]


@pytest.mark.parametrize("path", PATHS)
def test_there_is_one_way_of_writing_a_path(door, path):
    for method in ("GET", "POST"):
        reply = door.ask(method, path, b"{}" if method == "POST" else None)
        assert reply.status in (400, 404) or (method, path, reply.status) == ("GET", "/ask", 404), reply.raw[:200]
        assert b'"pid"' not in reply.raw and b'"ok"' not in reply.raw


def test_a_nul_in_a_request_only_ends_a_text(door):
    def ask(line, host=door.name.encode(), token=door.token.encode()):
        return door.raw(line + b" HTTP/1.1\r\nHost: " + host + b"\r\nAuthorization: Bearer " + token + b"\r\nConnection: close\r\n\r\n")

    assert ask(b"GET /\0health").status in (None, 400, 404)
    assert ask(b"GET /x\0/../api/status").status in (None, 400, 404)
    assert ask(b"GET /health\0", token=b"\0").status in (None, 400, 401)
    assert ask(b"GET /health", token=door.token[:32].encode() + b"\0" + door.token[32:].encode()).status in (None, 400, 401)
    assert ask(b"GET /api/status", host=b"evil.example\0" + door.name.encode()).status in (None, 400, 403)


# --- Sizes and speed. ---

def test_headers_have_a_limit(door):
    assert door.ask("GET", "/health", X_Long="x" * (64 << 10)).status in (None, 400, 413, 414, 431)
    assert door.ask("GET", "/health?" + "x" * (64 << 10)).status in (None, 400, 413, 414, 431)
    many = {"X_%d" % i: "y" for i in range(20000)}
    assert door.ask("GET", "/health", **many).status in (None, 400, 413, 431)
    assert door.ask("GET", "/health").status == 200


def test_a_body_that_says_it_is_too_long_is_refused_before_it_is_sent(door):
    for path, length in (("/api/remember", BODY_MAX + 1), ("/api/remember", 1 << 40), ("/search", 1 << 20)):
        started = time.monotonic()
        reply = door.ask("POST", path, None, Content_Length=str(length))
        assert reply.status == 413 and time.monotonic() - started < 5
    assert door.ask("POST", "/api/remember", None, Content_Length=str(BODY_MAX), Authorization=None).status == 401
    assert door.ask("POST", "/api/remember", None, Content_Length=str(BODY_MAX + 1), Expect="100-continue").status == 413


@pytest.mark.parametrize("lengths", ["-1", "+5", "0x5", "5 5", "99999999999999999999999999", "five", "5\r\nContent-Length: 6",
                                     "5\r\nContent-Length: 5", "5\r\nTransfer-Encoding: chunked"])
def test_a_body_has_one_length(door, lengths):
    reply = door.ask("POST", "/api/status", b"{}   ", Content_Length=lengths)
    assert reply.status in (None, 400, 403, 413), reply.raw[:200]


def chunked(door, parts, path="/api/remember", **headers):
    data = b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in parts) + b"0\r\n\r\n"
    head = {"Host": door.name, "Authorization": "Bearer " + door.token, "Connection": "close", "Transfer-Encoding": "chunked", **headers}
    lines = "".join("%s: %s\r\n" % item for item in head.items())
    return door.raw(("POST %s HTTP/1.1\r\n%s\r\n" % (path, lines)).encode() + data)


def test_chunked_bodies_are_read_and_have_the_same_limit(door):
    assert chunked(door, [b'{"text":"sent in', b' pieces"}']).json["title"] == "sent in pieces"
    reply = chunked(door, [b'{"query":"', b"x" * (300 << 10), b'"}'], "/search")
    assert reply.status == 413 and "256 KB" in reply.json["detail"]
    assert chunked(door, [b"{}"], Authorization="Bearer wrong").status in (401, None)
    before = rss(door.pid)
    chunked(door, [b"x" * (1 << 20)] * 40)
    assert rss(door.pid) - before < 64 << 20
    assert door.ask("GET", "/health").status == 200


def rss(pid):
    fields = pathlib.Path("/proc/%d/statm" % pid).read_text().split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")


def test_a_flood_of_connections_is_bounded_and_hurts_nobody_else(door):
    held = []
    try:
        for _ in range(CONNECTIONS * 2):
            s = socket.socket()
            s.setblocking(False)
            s.connect_ex(("127.0.0.1", door.port))
            held.append(s)
        started = time.monotonic()
        assert door.rem.json("status")["pid"] == door.pid
        assert time.monotonic() - started < 2, "the unix socket is as quick as ever"
        sockets = [os.readlink(p) for p in pathlib.Path("/proc/%d/fd" % door.pid).iterdir() if os.path.lexists(p)]
        assert sum(s.startswith("socket:") for s in sockets) < CONNECTIONS + 20
    finally:
        for s in held:
            s.close()
    assert wait_for(lambda: door.ask("GET", "/health").status == 200, "the door to be free again")


def test_a_flood_of_requests_is_answered(door):
    wrong, right = [], []

    def many(token, into):
        for _ in range(100):
            into.append(door.ask("GET", "/api/status", Authorization="Bearer " + token).status)

    threads = [threading.Thread(target=many, args=a) for a in [("0" * 64, wrong)] * 4 + [(door.token, right)] * 2]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert set(wrong) == {401} and set(right) == {200} and len(right) == 200


def test_slow_peers_are_cut_off(door):
    """A byte now and then keeps no connection for ever: not in the headers, not in the body, not in silence."""
    head = "POST /api/remember HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n" % (door.name, door.token)
    lasted = {}

    def drip(name, first, limit, byte=b"x"):
        started = time.monotonic()
        with door.connect() as s:
            s.sendall(first)
            s.settimeout(1)
            while time.monotonic() - started < limit:
                try:
                    if byte:
                        s.sendall(byte)
                    if s.recv(1) == b"":
                        break
                except TimeoutError:
                    continue
                except OSError:
                    break
        lasted[name] = time.monotonic() - started

    threads = [threading.Thread(target=drip, args=a) for a in (
        ("headers", head.encode() + b"X-Slow: ", 40), ("line", b"GET /hea", 40), ("silence", b"", 40, b""),
        ("silence in a body", head.encode() + b"Content-Length: 1000\r\n\r\n", 40, b""))]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert lasted["headers"] < 30 and lasted["line"] < 30
    assert lasted["silence"] < 20 and lasted["silence in a body"] < 20
    assert door.ask("GET", "/health").status == 200


# --- Addresses. ---

def listening(pid):
    """Addresses that a process listens on over TCP."""
    inodes = set()
    for p in pathlib.Path("/proc/%d/fd" % pid).iterdir():
        try:
            inodes.add(os.readlink(p).removeprefix("socket:[").rstrip("]"))
        except OSError:
            pass
    found = []
    for table in ("tcp", "tcp6"):
        for line in pathlib.Path("/proc/net/" + table).read_text().splitlines()[1:]:
            f = line.split()
            if f[3] == "0A" and f[9] in inodes:
                found.append(f[1].split(":")[0])
    return found


def test_only_the_loopback_is_listened_on_unless_told_otherwise(door):
    assert door.host == "127.0.0.1" and listening(door.pid) == ["0100007F"]


def test_it_can_be_switched_off_and_the_port_chosen(door):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    assert configured(door.rem, http__port=port).port == port
    door.rem.run("config", "set", "http.listen", "off")
    door.rem.run("stop")
    pid = door.rem.start()
    assert door.rem.json("status")["http"] is None and listening(pid) == []


def test_a_port_in_use_keeps_nothing_else_from_working(door):
    rem = door.rem
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        rem.run("config", "set", "http.port", s.getsockname()[1])
        rem.run("stop")
        rem.start()
        status = rem.json("status")
        assert status["http"] is None and "cannot listen" in status["http_trouble"]
        assert rem.json("remember", "all the same")["ref"]
        check = [c for c in rem.run("--json", "doctor", check=False).json["checks"] if c["name"] == "http"]
        assert check and not check[0]["ok"] and "cannot listen" in check[0]["detail"]


def test_another_address_needs_the_setting_and_still_the_token(door):
    rem = door.rem
    far = configured(rem, http__listen="0.0.0.0")
    far.host = "127.0.0.1"
    assert listening(far.pid) == ["00000000"]
    assert far.ask("GET", "/api/status", Host="192.0.2.7:8080").status == 200
    assert far.ask("GET", "/api/status", Host="localhost:5510").status == 200
    assert far.ask("GET", "/api/status", Host="192.0.2.7:8080", Authorization=None).status == 401
    assert far.ask("GET", "/api/status", Host="memory.example").status == 403
    rem.run("config", "set", "http.hosts", "memory.example, other.example:81")
    assert wait_for(lambda: far.ask("GET", "/api/status", Host="memory.example").status == 200, "the setting to hold")
    assert far.ask("GET", "/api/status", Host="other.example:81").status == 200
    assert far.ask("GET", "/api/status", Host="other.example:82").status == 403
    for name, body in (("config", {}), ("backup", {}), ("restore", {"file": "/x", "yes": True}), ("import", {}), ("stop", {})):
        reply = far.ask("POST", "/api/" + name, body)
        assert reply.status == 403 and "machine" in reply.json["detail"], name
    assert far.ask("GET", "/api/stop").status in (403, 405)
    assert rem.json("status")["pid"] == far.pid


def test_an_address_that_is_none_is_said(door):
    door.rem.run("config", "set", "http.listen", "example.com")
    door.rem.run("stop")
    door.rem.start()
    assert "no address" in door.rem.json("status")["http_trouble"]


# --- Open routes. ---

def test_open_routes_need_no_token_but_are_never_for_pages(door):
    opened = configured(door.rem, http__open_routes="/health,stats,/search,/api/status,/")
    free = {"Authorization": None}
    assert opened.ask("GET", "/health", **free).status == 200
    assert opened.ask("GET", "/stats", **free).status == 200
    assert opened.ask("POST", "/search", {"query": "x"}, **free).status == 200
    for path in ("/api/status", "/", "/api/search", "/api/openapi.json", "//health", "/health/", "/%68ealth", "/search/../api/status"):
        assert opened.ask("GET", path, **free).status == 401, path
    own = "http://" + opened.name
    assert opened.ask("GET", "/health", Origin=own, **free).status == 401
    assert opened.ask("GET", "/health", Origin="http://evil.example", **free).status == 403
    assert opened.ask("GET", "/stats", Sec_Fetch_Site="none", **free).status == 401
    assert opened.ask("POST", "/search", {"query": "x"}, Host="evil.example", **free).status == 403
    assert opened.ask("GET", "/health", Authorization="Bearer wrong").status == 200, "as without one"


def test_open_routes_are_opened_one_by_one(door):
    opened = configured(door.rem, http__open_routes="/health")
    assert opened.ask("GET", "/health", Authorization=None).status == 200
    assert opened.ask("GET", "/stats", Authorization=None).status == 401


# --- What it is for. ---

def test_operations_answer_as_on_the_command_line(door):
    made = door.ask("POST", "/api/remember", {"text": "the staging database is read-only on Fridays"})
    assert (made.status, made.headers["content-type"]) == (200, "application/json")
    ref = made.json["ref"]
    cli = door.rem.json("search", "staging", "--project", "all")
    posted = door.ask("POST", "/api/search", {"query": "staging", "project": "all"}).json
    got = door.ask("GET", "/api/search?query=staging&project=all").json
    for reply in (posted, got):
        assert [h["ref"] for h in reply["hits"]] == [h["ref"] for h in cli["hits"]] == [ref]
        assert reply.keys() == cli.keys()
    assert door.ask("GET", "/api/get?refs=%s&refs=%s" % (ref, ref)).json["records"][0]["ref"] == ref
    assert door.ask("GET", "/api/search?" + urllib.parse.urlencode({"query": '"read-only" -monday é', "limit": "1", "count": "true"})).json["total_exact"]


def test_a_body_is_json_whatever_it_says_to_be(door):
    for kind in ("application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x", None):
        assert door.ask("POST", "/api/search", {"query": "x"}, Content_Type=kind).status == 200


def test_errors_are_problems(door):
    cases = [("POST", "/api/nothing", b"{}", 404, "not_found"), ("POST", "/api/get", b"{}", 400, "usage"), ("POST", "/api/search", b"{", 400, "usage"),
             ("POST", "/api/search", b"[]", 400, "usage"), ("POST", "/api/get", b'{"refs":["99"]}', 404, "not_found"),
             ("POST", "/api/search", b'{"limit":0}', 400, "usage"), ("GET", "/api/remember?text=x", None, 405, "usage"),
             ("GET", "/api/stop", None, 405, "usage"), ("GET", "/api/search?limit=many", None, 400, "usage"), ("GET", "/x", None, 404, "not_found")]
    for method, path, body, status, code in cases:
        reply = door.ask(method, path, body)
        assert (reply.status, reply.headers["content-type"]) == (status, "application/problem+json"), (path, reply.raw)
        problem = reply.json
        assert problem["type"] == "about:blank" and problem["status"] == status and problem["title"]
        assert problem["detail"] == problem["error"]["message"] and problem["error"]["code"] == code
        assert set(problem["error"]) == {"code", "message", "hint", "retryable"}


def test_long_operations_stream_over_tcp_too(door):
    for i in range(20):
        door.ask("POST", "/api/remember", {"text": "note number %d of this test" % i})
    reply = door.ask("POST", "/api/export", {})
    assert reply.status == 200 and b"note number 19" in reply.body
    assert door.ask("POST", "/api/doctor", {}).json["checks"]


def test_connections_are_kept_for_further_requests(door):
    request = ("GET /health HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n" % (door.name, door.token)).encode()
    with door.connect() as s:
        for _ in range(50):
            s.sendall(request)
            got = b""
            while not got.endswith(b"}\n") and not got.endswith(b"}"):
                got += s.recv(4096)
            assert got.startswith(b"HTTP/1.1 200")


def test_the_daemon_can_be_stopped_over_tcp(door):
    assert door.ask("POST", "/api/stop", {}).json["stopping"]
    wait_for(lambda: not pathlib.Path("/proc/%d" % door.pid).exists(), "the daemon to leave")


def test_the_interface_describes_itself(door):
    reply = door.ask("GET", "/api/openapi.json")
    api = reply.json
    assert api["openapi"].startswith("3.1.") and api["info"]["title"] and api["info"]["version"]
    seen = set()
    for path, methods in api["paths"].items():
        for method, op in methods.items():
            assert op["operationId"] not in seen and not seen.add(op["operationId"])
            assert op["summary"] and "default" in op["responses"] and "200" in op["responses"]
            for p in op.get("parameters", []):
                assert p["in"] == "query" and p["schema"]["type"]
            status = door.ask(method.upper(), path, b"not json" if method == "post" else None).status if path != "/api/stop" else 400
            assert status in (200, 400, 404) or path.endswith("export") or path.endswith("doctor"), (method, path, status)
    assert {"/api/search", "/api/get", "/api/remember", "/health", "/stats", "/search"} <= set(api["paths"])
    assert "get" not in api["paths"]["/api/remember"] and "get" not in api["paths"]["/api/stop"]
    assert api["components"]["securitySchemes"]["token"] == {"type": "http", "scheme": "bearer"}
    refs = set(re.findall(r'"\$ref":\s*"#/components/schemas/(\w+)"', reply.body.decode()))
    assert refs <= set(api["components"]["schemas"])


def test_the_description_is_valid_openapi(door):
    OpenAPIV31SpecValidator(door.ask("GET", "/api/openapi.json").json).validate()


def test_every_operation_is_described_with_what_it_answers(door):
    rem = door.rem
    repo = rem.make_repo()
    s = ClaudeSession(rem, repo)
    s.hook("SessionStart", source="startup")
    s.prompt("we decided to use pytest, please edit a.py")
    s.tool("Bash", {"command": "pytest -q"}, {"stdout": "1 passed", "stderr": ""})
    s.write()
    s.hook("Stop")
    rem.drained()
    note = rem.json("remember", "--category", "decision", "the parser needs a lock")["ref"]
    (rem.scratch / "notes").mkdir()
    (rem.scratch / "notes" / "a.md").write_text("# A\n\n## Deploy\n\nrun it\n")
    wait_for(lambda: rem.json("entities", "--project", "all")["entities"], "entities")
    paths = door.ask("GET", "/api/openapi.json").json["paths"]
    described = {p[len("/api/"):]: m["post"]["responses"]["200"]["content"] for p, m in paths.items() if p.startswith("/api/")}
    given = {
        "search": [["parser"]], "timeline": [["s1"], [note]], "get": [[note]], "facts": [[], ["parser"]], "recall": [["which parser?"]],
        "context": [[]], "files": [["a.py"]], "blame": [["README.md"]], "entities": [[], ["pytest"]], "remember": [["a note"]],
        "edit": [[note, "--title", "a title"]], "pin": [[note], [note, "--off"]], "review": [[], [note, "approve"]],
        "pause": [["--for", "1h"]], "resume": [[]], "sessions": [[]], "projects": [[]], "why": [["s1"]], "stats": [[]], "status": [[]],
        "sync": [["add", rem.scratch / "notes", "--namespace", "notes"], ["list"], ["run"], ["remove", "notes"]],
        "config": [[], ["get", "hook.ask_ms"], ["set", "hook.ask_ms", "5000"]], "jobs": [[]], "cost": [[]], "model": [["status"]],
        "backup": [[rem.scratch / "b.db"]], "store": [["copy", "sqlite:" + str(rem.home / "remanence.db"), "sqlite:" + str(rem.scratch / "c.db")]],
        "import": [[]], "export": [[]], "doctor": [[]], "reindex": [[]], "restore": [[rem.scratch / "b.db", "--yes"]],
        "forget": [[note, "--dry-run"], [note]], "observer": [], "stop": [[]],
    }
    assert set(described) == set(given)
    for op, calls in given.items():
        (content,) = described[op].values()
        assert op == "stop" or content["schema"]["properties"], op
        for words in calls:
            reply = rem.run("--json", op, *words, check=op != "doctor").out
            reply = json.loads(reply) if op not in ("sync", "import", "export") else json.loads(reply.strip().splitlines()[-1])
            errors = [e.message for e in Draft202012Validator(content["schema"]).iter_errors(reply)]
            assert not errors, (op, words, errors[:3])


# --- The markdown service. ---

REFUSED = [
    ({"query": ""}, 400, "Query cannot be empty"), ({"query": " \t\n "}, 400, "Query cannot be empty"), ({}, 400, "Query cannot be empty"),
    ({"query": None}, 400, "Query cannot be empty"), ({"query": 5}, 400, "query is 5"), ({"query": ["a"]}, 400, "query is"),
    ({"query": "x", "limit": 0}, 400, "limit is 0"), ({"query": "x", "limit": 101}, 400, "limit is 101"), ({"query": "x", "limit": 1.5}, 400, "limit is 1.5"),
    ({"query": "x", "limit": "many"}, 400, 'limit is "many"'), ({"query": "x", "limit": True}, 400, "limit is true"),
    ({"query": "x", "limit": -1}, 400, "limit is -1"), ({"query": "x", "threshold": 2}, 400, "threshold is 2"),
    ({"query": "x", "threshold": -0.1}, 400, "threshold is -0.1"), ({"query": "x", "threshold": "high"}, 400, 'threshold is "high"'),
    ({"query": "x", "threshold": []}, 400, "threshold is []"), ({"query": "x", "namespace": "no such"}, 404, "there is no namespace 'no such'"),
    ({"query": "x", "namespace": 7}, 400, "namespace is 7"), (b"query=x", 400, "not JSON"), (b"", 400, "Query cannot be empty"), (b"[1]", 400, "not a JSON object"),
    (b'"x"', 400, "not a JSON object"), (b'{"query":"x"', 400, "not JSON"), (b"\xff\xfe", 400, "not JSON"), ({"query": "x" * 20000}, 413, "longer than 16 KB"),
]


@pytest.mark.parametrize("body,status,words", REFUSED)
def test_what_is_wrong_with_a_search_is_said_in_one_sentence(door, body, status, words):
    reply = door.ask("POST", "/search", body, Content_Type="application/x-www-form-urlencoded")
    assert reply.status == status and reply.headers["content-type"] == "application/json"
    assert set(reply.json) == {"detail"} and words in reply.json["detail"] and "\n" not in reply.json["detail"]


def test_the_three_routes_answer_in_the_shapes_that_scripts_expect(door):
    health = door.ask("GET", "/health").json
    assert health["status"] == "ok" and isinstance(health["ollama"], bool)
    assert door.ask("GET", "/stats").json == {"total_chunks": 0, "total_files": 0, "last_sync": None}
    assert door.ask("POST", "/search", {"query": "déployer un service", "namespace": None, "limit": 5, "threshold": 0.7, "unknown": 1}).json == []
    assert door.ask("POST", "/search", {"query": "x", "limit": "5", "threshold": "0.7", "namespace": ""}).status == 200
    for path, method in (("/search", "GET"), ("/stats", "POST"), ("/health", "POST")):
        reply = door.ask(method, path, b"{}" if method == "POST" else None)
        assert reply.status == 405 and set(reply.json) == {"detail"}


def test_serve_is_the_daemon_attached(rem):
    attached = subprocess.Popen([str(rem.client), "serve"], env=rem.env, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    try:
        wait_for(lambda: rem.json("status").get("running"), "the daemon to serve")
        assert rem.json("status")["pid"] == attached.pid
        assert Door(rem).ask("GET", "/health").status == 200
        rem.run("stop")
        assert attached.wait(30) == 0
    finally:
        attached.kill()


def test_a_list_of_sessions_is_read_page_by_page_while_new_ones_come(door):
    rem = door.rem
    rem.make_repo()

    def session():
        s = ClaudeSession(rem, rem.repo)
        s.hook("SessionStart", source="startup")
        s.prompt("a question")
        return s.id

    def known():
        rem.drained()
        return [s["agent_session"] for s in rem.json("sessions", "--project", "all", "--limit", "100")["sessions"]]

    made = [session() for _ in range(7)]
    wait_for(lambda: len(known()) == 7, "the sessions to be stored")
    seen, cursor, pages = [], None, 0
    while True:
        page = door.ask("GET", "/api/sessions?limit=3&project=all" + ("&cursor=" + cursor if cursor else "")).json
        seen += [s["agent_session"] for s in page["sessions"]]
        pages += 1
        cursor = page["next_cursor"]
        if not cursor:
            break
        session()
        wait_for(lambda: len(known()) == 7 + pages, "the new session to be stored")
    assert sorted(seen) == sorted(made) and pages == 3
    assert door.ask("GET", "/api/sessions?limit=7&project=all&branch=main&cursor=" + "x").status == 400
    assert door.ask("GET", "/api/sessions?cursor=1.2.3").status == 400


BAD_CURSORS = ["x", "1.2.3", "AAAA", "../..", "A" * 500, "é", "a\nb", 5]


@pytest.mark.parametrize("op", ["sessions", "facts", "entities", "files", "review", "projects", "jobs", "sync"])
def test_a_cursor_that_was_never_given_out_is_refused_in_one_sentence(door, op):
    given = {"path": "a.c"} if op == "files" else {}
    for cursor in BAD_CURSORS:
        reply = door.ask("POST", "/api/" + op, {**given, "cursor": cursor})
        said = json.loads(reply.body.splitlines()[-1])
        assert "damaged" in (said.get("detail") or said["error"]["message"]) and b"\n" not in reply.body.strip(), cursor
        assert reply.status == 400
    reply = door.ask("POST", "/api/" + op, {**given, "cursor": "A" * 100000})
    assert reply.status == 413 and "cursor is longer than" in reply.json["detail"]


def test_the_command_line_says_how_to_go_on(door):
    rem = door.rem
    rem.make_repo()
    for i in range(5):
        rem.run("remember", "--category", "decision", "we decided on library number %d, it's good" % i)
    command = ["facts", "--category", "decision", "--limit", "2"]
    seen = []
    while command:
        page = rem.json(*command)
        seen += [f["ref"] for f in page["facts"]]
        more = [line for line in rem.run(*command).out.splitlines() if line.startswith("more: remanence ")]
        assert len(more) == (page["next_cursor"] is not None)
        command = shlex.split(more[0])[2:] if more else None
        assert not command or command[-2] == "--cursor"
    assert len(seen) == len(set(seen)) == 5


def test_the_examples_of_the_page_about_it_work(door):
    """Every shell block of docs/http.md, in one shell, as a reader would run them."""
    page = pathlib.Path(__file__).parent.parent.parent / "docs" / "http.md"
    blocks = re.findall(r"^```sh\n(.*?)^```", page.read_text(), re.M | re.S)
    assert len(blocks) >= 3
    script = "set -euo pipefail\n" + "\n".join(b.replace("curl -sS", "curl -sS --fail-with-body -w '\\n'") for b in blocks)
    env = {**door.rem.env, "PATH": "%s:%s" % (door.rem.build, door.rem.env["PATH"])}
    done = subprocess.run(["bash", "-c", script], env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert '"status":"ok"' in done.stdout and "read-only on Fridays" in done.stdout


SECTIONS = [
    ("claude", "ci-cd.md", "Deploying a service", "Push to the main branch; the pipeline builds the image and calls the deploy webhook. Roll back with the previous tag."),
    ("claude", "ci-cd.md", "Runners", "Two runners share the machine; restart them with systemctl when jobs stay pending."),
    ("claude", "dns.md", None, "Split DNS: the internal zone is answered by the local resolver, everything else goes to the provider."),
    ("stack-86000", "notes/ci-cd.md", "Deploying a service", "Here a service is deployed by hand: copy the unit file and reload the daemon."),
    ("stack-86000", "backup.md", "Nightly backups", "The database is dumped every night at three and kept for thirty days."),
]


def index_sections(rem):
    """Two markdown folders with these sections."""
    for namespace, path, section, text in SECTIONS:
        file = rem.scratch / namespace / path
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a") as out:
            out.write(("\n## %s\n\n" % section if section else "") + text + "\n")
    for namespace in sorted({s[0] for s in SECTIONS}):
        rem.run("sync", "add", rem.scratch / namespace, "--namespace", namespace)


def test_sections_are_found_with_their_place_and_a_similarity(rem):
    rem.start()
    index_sections(rem)
    rem.run("remember", "how do we deploy a service: this note is no section")
    door = Door(rem)

    def search(query, **more):
        return door.ask("POST", "/search", {"query": query, **more}).json

    found = search("deploying a service by the pipeline")
    assert [set(f) for f in found] == [{"content", "namespace", "file_source", "section", "similarity"}] * len(found)
    assert (found[0]["namespace"], found[0]["file_source"], found[0]["section"]) == SECTIONS[0][:3]
    assert found[0]["content"] == SECTIONS[0][3]
    everything = search("deploying a service database", threshold=0, limit=100)
    assert [f["similarity"] for f in everything] == sorted((f["similarity"] for f in everything), reverse=True)
    assert all(0 <= f["similarity"] <= 1 for f in everything) and len(everything) >= 3
    assert {f["namespace"] for f in search("deploying a service", threshold=0, namespace="stack-86000")} == {"stack-86000"}
    assert [f["file_source"] for f in search("deploying a service", namespace="stack-86000")] == ["notes/ci-cd.md"]
    assert len(search("deploying a service", threshold=0, limit=1)) == 1
    assert search("a zebra crossing in Paris") == []
    assert search("split-dns resolver")[0]["section"] == "Introduction", "what stands before the first heading"
    assert all(f["similarity"] >= 0.9 for f in search("deploying a service", threshold=0.9))
    refused = door.ask("POST", "/search", {"query": "x", "namespace": "stack"})
    assert refused.status == 404 and refused.json["detail"].endswith("claude, stack-86000")
    stats = door.ask("GET", "/stats").json
    assert (stats["total_chunks"], stats["total_files"]) == (5, 4)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", stats["last_sync"])


def test_garbage_neither_kills_nor_passes(door):
    """Requests cut, mutated and run together; none gets through without the token, and the daemon goes on."""
    dice = random.Random(11)
    good = [("POST /api/remember HTTP/1.1\r\nHost: %s\r\nContent-Length: 13\r\n\r\n{\"text\":\"hi\"}" % door.name).encode(),
            ("GET /api/search?query=%%41&limit=5 HTTP/1.1\r\nHost: %s\r\nConnection: keep-alive\r\n\r\n" % door.name).encode(),
            ("POST /search HTTP/1.1\r\nHost: %s\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"que\r\n8\r\nry\":\"x\"}\r\n0\r\n\r\n" % door.name).encode()]

    def mangled():
        data = bytearray(b"".join(dice.choice(good) for _ in range(dice.randint(1, 3))))
        for _ in range(dice.randint(1, 12)):
            at = dice.randrange(len(data))
            how = dice.randrange(4)
            if how == 0:
                data[at] = dice.randrange(256)
            elif how == 1:
                del data[at:at + dice.randint(1, 20)]
            elif how == 2:
                data[at:at] = dice.choice([b"\r\n", b"\0", b" ", b"\t", b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n", b"%00", b"ffffffffff\r\n", b":"])
            else:
                del data[at:]
            if not data:
                break
        return bytes(data)

    for _ in range(150):
        with door.connect() as s:
            s.settimeout(0.1)  # what is incomplete is waited for by the daemon, not here
            try:
                s.sendall(mangled())
            except OSError:
                pass
            assert b"HTTP/1.1 200" not in read_all(s)
    assert door.ask("GET", "/api/status").json["pid"] == door.pid
    assert door.rem.json("stats", "--project", "all")["memories"]["note"] == 0
