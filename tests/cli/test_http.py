"""The HTTP door on TCP, as attackers see it: everything goes through real sockets."""
import os
import pathlib
import random
import re
import socket
import stat
import threading
import time

import pytest

from door import Door, read_all
from lib import Remanence, wait_for

BODY_MAX = 16 << 20
CONNECTIONS = 128


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


# --- Garbage. ---

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
