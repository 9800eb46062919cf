"""The real Claude Code, offline: what a person prefers is known to the next session, and its use is seen."""
import json

import pytest

from agents import CLAUDE, Claude, can_isolate
from lib import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.skipif(not CLAUDE.exists(), reason="Claude Code is not in the cache"),
              pytest.mark.skipif(not can_isolate(), reason="no network namespaces here")]

SAID = {"scenarios": {"say": [["Understood: pnpm it is, in every script of this repository."]]}, "default": [["ok"]]}
QUOTED = {"scenarios": {"quote": [["You prefer pnpm over npm, so I would run `pnpm install` here and never npm."]]}, "default": [["ok"]]}


def test_a_preference_of_one_session_is_given_to_the_next_and_its_use_is_seen(rem):
    rem.make_repo(files={"package.json": '{"name": "demo"}\n'})
    (rem.user_home / ".claude").mkdir()
    rem.start()
    rem.run("install", "claude")
    claude = Claude(rem)
    assert claude.ask(SAID, "From now on, use pnpm instead of npm. [[say]]").returncode == 0
    rem.drained()
    facts = wait_for(lambda: rem.json("facts", "--category", "preference")["facts"], "the preference")
    assert "pnpm" in facts[0]["text"]

    second = claude.ask(QUOTED, "how do I install the packages? [[quote]]")
    assert second.returncode == 0
    assert "pnpm" in "\n".join(json.dumps(r["body"]["messages"][:2]) for r in second.requests if r["body"] and "messages" in r["body"])
    rem.drained()
    wait_for(lambda: any(i.get("used") for i in rem.json("why")["injections"]), "the use of it to be seen")
