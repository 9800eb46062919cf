"""The real agents as the observer's model (provider "command"): they answer in print mode, and nothing of it is captured or kept."""
import json

import pytest

from agents import CLAUDE, CODEX, Claude, Codex, can_isolate

pytestmark = [pytest.mark.e2e, pytest.mark.skipif(not can_isolate(), reason="no network namespaces here")]

ANSWER = '{"title": "Login timeout raised"}'
CLAUDE_LINE = '%s -p --model haiku --tools "" --strict-mcp-config --no-session-persistence'
CODEX_LINE = "%s exec --ephemeral --skip-git-repo-check --sandbox read-only -"


def observe(agent, rem, build, line):
    done = agent.run({"scenarios": {}, "default": [[ANSWER]]}, build / "tests" / "drive" / "llm_ask", "command", line,
                     "system=You describe work.", 'schema={"type":"object"}', "timeout_ms=90000")
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1]), done.requests


def files_below(folder):
    return {str(p.relative_to(folder)) for p in folder.rglob("*.jsonl")}


@pytest.mark.parametrize("kind,program,line", [("claude", CLAUDE, CLAUDE_LINE), ("codex", CODEX, CODEX_LINE)])
def test_an_agent_in_print_mode_is_a_model_and_is_not_captured(rem, build, kind, program, line):
    if not program.exists():
        pytest.skip("the agent is not in the cache")
    rem.make_repo()
    (rem.user_home / ("." + kind)).mkdir(exist_ok=True)
    rem.start()
    rem.run("install", kind)
    agent = (Claude if kind == "claude" else Codex)(rem)
    if kind == "codex":
        rem.run("install", kind)  # its settings were written anew
    answer, requests = observe(agent, rem, build, line % program)
    assert answer["outcome"] == "ok" and answer["text"].strip() == ANSWER, answer
    assert any("You describe work." in json.dumps(r["body"]) for r in requests)
    rem.drained()
    assert rem.json("sessions", "--project", "all")["sessions"] == []
    assert files_below(rem.user_home) == set()  # no transcript for an import to find
