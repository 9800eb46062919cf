"""The real Codex CLI, offline."""
import json

import pytest

from agents import CODEX, Codex, can_isolate
from lib import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.skipif(not CODEX.exists(), reason="Codex is not in the cache"),
              pytest.mark.skipif(not can_isolate(), reason="no network namespaces here"),
              pytest.mark.xdist_group("codex")]

WORK = {"scenarios": {"work": [
    ["I will look.", {"tool": "exec_command", "input": {"cmd": "cat notes.txt"}}],
    [{"tool": "exec_command", "input": {"cmd": "echo to-out; echo to-err >&2; exit 3"}}],
    [{"tool": "exec_command", "input": {"cmd": "sed -i s/beta/BETA/ notes.txt"}}],
    ["The beta marker in notes.txt is now in capitals, as the importer expects. The failing command was a probe.\n\n"
     "Next: tell the importer about gamma."]]}, "default": [["ok"]]}
TRUST = "--dangerously-bypass-hook-trust"


@pytest.fixture
def codex(rem):
    rem.make_repo(files={"notes.txt": "alpha\nbeta\ngamma\n"})
    agent = Codex(rem)
    rem.start()
    rem.run("install", "codex")
    return agent


def test_a_session_is_captured_with_exit_codes_and_the_next_one_receives_it(rem, codex):
    first = codex.ask(WORK, "capitalise the marker [[work]]", TRUST)
    assert first.returncode == 0, first.stderr + first.stdout
    rem.drained()
    wait_for(lambda: rem.json("stats")["memories"].get("summary"), "a summary")
    session = rem.json("sessions")["sessions"][0]
    assert session["agent"] == "codex"
    items = rem.json("timeline", session["ref"], "--limit", "1000")["items"]
    tools = [rem.json("get", i["ref"])["records"][0] for i in items if i["kind"] == "tool"]
    assert [t["exit_code"] for t in tools] == [0, 3, 0]
    assert len([i for i in items if i["kind"] == "prompt"]) == 1

    second = codex.ask({"default": [["ok"]]}, "hello again", TRUST)
    assert second.returncode == 0
    text = json.dumps([r["body"] for r in second.requests])
    assert "remanence-context" in text and "capitals" in text


def test_the_agent_asks_through_mcp(rem, codex):
    rem.run("remember", "The importer expects capitals in notes.txt.")
    script = {"scenarios": {"ask": [[{"tool": "search", "namespace": "mcp__remanence", "input": {"query": "importer capitals"}}], ["Asked."]]},
              "default": [["ok"]]}
    run = codex.ask(script, "what about the importer? [[ask]]", TRUST)
    assert run.returncode == 0
    assert "expects capitals" in json.dumps([r["body"].get("input") for r in run.requests if r["body"]])


def test_unreviewed_hooks_are_said_by_doctor_and_trusted_on_request(rem, codex):
    checks = rem.run("--json", "doctor", check=False, env={"PATH": "%s:%s" % (CODEX.parent, rem.env["PATH"])}).json["checks"]
    trust = [c for c in checks if "trust" in c["name"]]
    assert trust and not trust[0]["ok"] and "/hooks" in trust[0]["advice"]
    rem.run("install", "codex", "--trust")
    run = codex.ask(WORK, "capitalise the marker [[work]]")
    assert run.returncode == 0
    rem.drained()
    assert wait_for(lambda: rem.json("sessions")["sessions"], "the session, captured by trusted hooks")


def test_uninstalling_restores_every_byte(rem, codex):
    folder = rem.user_home / ".codex"
    rem.run("uninstall", "codex")
    Codex(rem)  # writes the configuration that a person had
    before = {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}
    rem.run("install", "codex")
    rem.run("uninstall", "codex")
    assert {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()} == before
