"""The real agents, offline: what is known comes back at the point of action, once, to whoever works on the project next."""
import json
import pathlib
import shutil
import tempfile

import pytest

from agents import CLAUDE, CODEX, Claude, Codex, can_isolate
from lib import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.skipif(not can_isolate(), reason="no network namespaces here")]
needs_claude = pytest.mark.skipif(not CLAUDE.exists(), reason="Claude Code is not in the cache")
needs_codex = [pytest.mark.skipif(not CODEX.exists(), reason="Codex is not in the cache"), pytest.mark.xdist_group("codex")]

FILES = {"notes.txt": "alpha\nbeta\ngamma\n",
         "Makefile": "build:\n\t@test -e modules || { echo \"Error: Cannot find module 'left-pad'\"; exit 1; }\n\t@echo built\n"
                     "install:\n\t@touch modules\n\t@echo added 1 package\n"}
FIXED = "was solved by: running `make install`"
DECIDED = "Decided to keep notes.txt as plain lines instead of JSON because the importer reads lines."
PATCH = "*** Begin Patch\n*** Update File: notes.txt\n@@\n alpha\n-%s\n+%s\n gamma\n*** End Patch\n"


def codex_script(name, old, new, last):
    def shell(cmd):
        return {"tool": "exec_command", "input": {"cmd": cmd}}
    return {"scenarios": {name: [[shell("cat notes.txt")], [{"custom": "apply_patch", "input": PATCH % (old, new)}], [shell("make build")],
                                 [shell("make install")], [shell("make build")], [last]]}, "default": [["ok"]]}


def claude_script(name, old, new, last):
    path = "${REPO}/notes.txt"
    return {"scenarios": {name: [[{"tool": "Read", "input": {"file_path": path}}],
                                 [{"tool": "Edit", "input": {"file_path": path, "old_string": old, "new_string": new}}],
                                 [{"tool": "Bash", "input": {"command": "make build"}}], [{"tool": "Bash", "input": {"command": "make install"}}],
                                 [{"tool": "Bash", "input": {"command": "make build"}}], [last]]}, "default": [["ok"]]}


class OfClaude:
    name, make, script, more = "claude", Claude, staticmethod(claude_script), ()


class OfCodex:
    name, make, script, more = "codex", Codex, staticmethod(codex_script), ("--dangerously-bypass-hook-trust", "-m", "gpt-5.5")


@pytest.fixture(params=[pytest.param(OfClaude, marks=needs_claude, id="claude"), pytest.param(OfCodex, marks=needs_codex, id="codex")])
def agent(rem, request):
    folder = pathlib.Path(tempfile.mkdtemp(dir="/var/tmp"))  # files below /tmp are no work on a project
    rem.repo = folder / "repo"
    rem.make_repo(files=FILES)
    (rem.user_home / ".claude").mkdir()
    made = request.param.make(rem)
    made.kind = request.param
    rem.start()
    rem.run("install", request.param.name)
    rem.run("config", "set", "context.observations", "0")
    yield made
    rem.close()
    shutil.rmtree(folder)


def work(agent, name, old, new, last, prompt):
    run = agent.ask(agent.kind.script(name, old, new, last), "%s [[%s]]" % (prompt, name), *agent.kind.more)
    assert run.returncode == 0, run.stderr + run.stdout
    agent.rem.drained()
    return "\n".join(json.dumps(r["body"]) for r in run.requests if r["body"])


def test_what_is_known_comes_back_at_the_point_of_action(rem, agent):
    first = work(agent, "first", "beta", "BETA", "The marker is in capitals now. " + DECIDED, "write the marker in capitals")
    assert FIXED not in first
    facts = wait_for(lambda: {f["category"]: f for f in rem.json("facts")["facts"]}.keys() >= {"decision", "error_fix"} and rem.json("facts")["facts"],
                     "a decision and the fix of an error")
    assert any(FIXED in f["title"] for f in facts), facts
    (rem.repo / "modules").unlink()
    # The session's beginning would tell the facts already; then they are not told again where they are needed.
    for ref in [f["ref"] for f in facts if f["category"] == "decision"]:
        assert rem.json("get", ref)["records"][0]["confidence"] < .6
    second = work(agent, "second", "BETA", "beta", "Small letters again.", "write the marker in small letters")
    places = {i["where"]: i for i in rem.json("why", cwd=rem.repo)["injections"]}
    assert {"file", "failure"} <= places.keys(), places.keys()
    assert all(i["chars"] <= 1500 for where, i in places.items() if where != "start")
    assert "Decided to keep notes.txt" in second and FIXED in second
    assert "permissionDecision" not in second
