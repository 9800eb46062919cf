"""The real Claude Code, offline: captured, remembered, asked, killed, unwired."""
import json
import subprocess

import pytest

from agents import CLAUDE, Claude, can_isolate
from lib import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.skipif(not CLAUDE.exists(), reason="Claude Code is not in the cache"),
              pytest.mark.skipif(not can_isolate(), reason="no network namespaces here")]

WORK = {"scenarios": {"work": [
    ["I will read the parser first.", {"tool": "Read", "input": {"file_path": "${REPO}/parser.py"}}],
    [{"tool": "Bash", "input": {"command": "python3 test_parser.py", "description": "Run the parser tests"}}],
    [{"tool": "Edit", "input": {"file_path": "${REPO}/parser.py", "old_string": "return int(text)",
                                "new_string": "return int(text.strip())"}}],
    [{"tool": "Bash", "input": {"command": "python3 test_parser.py", "description": "Run the parser tests"}}],
    ["The flaky parser test is fixed. The root cause was trailing white space that `parse` in parser.py did not strip; "
     "`text.strip()` now removes it and the test passes.\n\nNext step: the lexer has the same weakness."]]},
    "default": [["ok"]]}
FILES = {"parser.py": "def parse(text):\n    return int(text)\n",
         "test_parser.py": "import sys\nfrom parser import parse\nsource = open('parser.py').read()\n"
                           "if 'strip' not in source:\n    sys.exit('ValueError: invalid literal for int()')\nprint('1 passed')\n"}


@pytest.fixture
def claude(rem):
    rem.make_repo(files=FILES)
    (rem.user_home / ".claude").mkdir()
    (rem.user_home / ".claude" / "settings.json").write_text('{\n  "model": "opus",\n   "hooks" : {"Stop": [{"hooks":[{"type":"command","command":"true"}]}]}\n}\n')
    rem.start()
    rem.run("install", "claude")
    return Claude(rem)


def sent(run):
    """Everything that reached the model, as text."""
    return "\n".join(json.dumps(r["body"], ensure_ascii=False) for r in run.requests if r["body"])


def test_a_session_is_captured_and_the_next_one_receives_it(rem, claude):
    first = claude.ask(WORK, "please fix the flaky parser test [[work]]")
    assert first.returncode == 0, first.stderr + first.stdout
    rem.drained()
    stats = wait_for(lambda: (lambda s: s if s["memories"].get("summary") else None)(rem.json("stats")), "memories of the first session")
    assert stats["sessions"] == 1
    session = rem.json("sessions")["sessions"][0]
    kinds = {}
    for item in rem.json("timeline", session["ref"], "--limit", "1000")["items"]:
        kinds.setdefault(item["kind"], []).append(item)
    assert len(kinds["prompt"]) == 1 and len(kinds["tool"]) == 4 and kinds["reply"]
    statuses = [i["status"] for i in kinds["tool"] if "test_parser" in i["snippet"] or "python3" in i["title"]]
    assert "failed" in statuses and "ok" in statuses

    second = claude.ask({"default": [["ok"]]}, "hello again")
    assert second.returncode == 0
    text = sent(second)
    assert "remanence-context" in text and "strip" in text and "flaky parser" in text.lower()
    assert "lexer" in text, "the next step is given"


def test_the_agent_asks_through_mcp(rem, claude):
    assert claude.ask(WORK, "please fix the flaky parser test [[work]]").returncode == 0
    rem.drained()
    wait_for(lambda: rem.json("stats")["memories"].get("summary"), "a summary")
    script = {"scenarios": {"ask": [
        [{"tool": "mcp__remanence__search", "input": {"query": "flaky parser"}}],
        [{"tool": "mcp__remanence__recall", "input": {"question": "what did we do about the flaky parser test?"}}],
        [{"tool": "mcp__remanence__remember", "input": {"text": "The parser must strip white space."}}],
        ["I asked."]]}, "default": [["ok"]]}
    run = claude.ask(script, "what about the parser? [[ask]]")
    assert run.returncode == 0
    results = [b for r in run.requests for m in (r["body"] or {}).get("messages", []) if isinstance(m.get("content"), list)
               for b in m["content"] if b.get("type") == "tool_result"]
    assert results and not any(b.get("is_error") for b in results), results
    assert "strip" in json.dumps(results)
    assert rem.json("search", "strip white space", "--kind", "note")["hits"]


def test_a_killed_client_loses_nothing(rem, claude):
    script = {"scenarios": {"die": [
        [{"tool": "Bash", "input": {"command": "echo survivor-%d" % 7}}],
        {"blocks": [{"tool": "Bash", "input": {"command": "kill -9 $(ps -o ppid= -p $$ | tr -d ' ')"}}]}]}, "default": [["ok"]]}
    claude.ask(script, "a prompt that must survive [[die]]", timeout=90)
    rem.drained()
    rem.run("import")
    session = wait_for(lambda: rem.json("sessions")["sessions"], "the session")[0]
    items = rem.json("timeline", session["ref"], "--limit", "1000")["items"]
    assert any("must survive" in i["snippet"] for i in items if i["kind"] == "prompt")
    assert any("survivor-7" in i["snippet"] + i["title"] for i in items if i["kind"] == "tool")


def test_uninstalling_restores_every_byte(rem):
    home = rem.user_home
    (home / ".claude").mkdir()
    settings, state = home / ".claude" / "settings.json", home / ".claude.json"
    settings.write_text('{ "hooks":{"Stop":[ {"hooks":[{"type":"command","command":"echo  mine"}] } ]},\n\t"x":1}')
    state.write_text('{"numStartups":3,"projects":{}}')
    before = settings.read_bytes(), state.read_bytes()
    rem.run("install", "claude")
    assert settings.read_bytes() != before[0] and state.read_bytes() != before[1]
    assert "echo  mine" in settings.read_text()
    rem.run("install", "claude")  # again changes nothing
    rem.run("uninstall", "claude")
    assert (settings.read_bytes(), state.read_bytes()) == before


def test_claude_accepts_the_registration(rem, claude):
    listed = subprocess.run([str(CLAUDE), "mcp", "list"], env=claude.env, capture_output=True, text=True, cwd=rem.repo, timeout=60)
    assert "remanence" in listed.stdout and "Connected" in listed.stdout, listed.stdout + listed.stderr
