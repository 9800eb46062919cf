"""The HTTP door on TCP, as programs use it: operations, their pages and their description."""
import json
import pathlib
import re
import shlex
import subprocess
import urllib.parse

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from door import Door
from lib import ClaudeSession, wait_for


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
        "edit": [[note, "--title", "a title"]], "pin": [[note], [note, "--off"]], "share": [[note], [note, "--private"]], "review": [[], [note, "approve"]],
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
