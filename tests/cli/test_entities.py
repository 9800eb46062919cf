"""Entities end to end: counted exactly, whatever the way and however often sessions come in, and forgotten with them."""
import json

import pytest

from lib import ClaudeSession


def counts(rem):
    reply = rem.json("entities", "--project", "all", "--limit", "1000")
    assert reply["total"] == len(reply["entities"])
    return {(e["kind"], e["name"]): (e["mentions"], e["sessions"]) for e in reply["entities"]}


def work(rem, repo, hook=True):
    """A session with two turns, four events that name pytest."""
    s = ClaudeSession(rem, repo)
    s.prompt("make the tests of the parser pass with pytest, please", hook=hook)
    s.tool("Bash", {"command": "py.test -q tests/ | tail -3"}, {"stdout": "1 failed", "stderr": ""}, hook=hook)
    s.tool("Bash", {"command": "pip install 'httpx[http2]==0.27' && python -m pytest"},
           {"stdout": "2 passed", "stderr": ""}, hook=hook)
    s.tool("Write", {"file_path": str(repo / "src/shop.py"), "content": "import os\nimport numpy as np\n"},
           {"type": "create", "filePath": str(repo / "src/shop.py"), "content": "import os\nimport numpy as np\n",
            "structuredPatch": []}, hook=hook)
    s.reply("Fixed the parser: pytest passes now, because the last line was dropped before the trim of `parse()`.", hook=hook)
    s.prompt("and now push it to GitHub", hook=hook)
    s.tool("Bash", {"command": "git push origin main"}, {"stdout": "ok", "stderr": ""}, hook=hook)
    s.reply("Pushed the parser fix to the main branch on GitHub.", hook=hook)
    s.write()
    return s


WANTED = {
    ("tool", "pytest"): (4, 1), ("tool", "pip"): (1, 1), ("library", "httpx"): (1, 1), ("language", "python"): (2, 1),
    ("library", "numpy"): (1, 1), ("tool", "git"): (1, 1), ("service", "github"): (2, 1),
}


def test_counts_are_exact_after_hooks_and_transcript_and_two_imports(rem):
    repo = rem.make_repo()
    s = work(rem, repo)
    rem.drained()
    rem.run("import", s.path)
    assert counts(rem) == WANTED
    rem.run("import", s.path)
    assert counts(rem) == WANTED
    assert rem.json("stats")["entities"] == len(WANTED)
    assert rem.json("stats", "--project", "repo")["entities"] == len(WANTED)


@pytest.mark.parametrize("backwards", [False, True])
def test_counts_are_the_same_by_transcripts_alone_in_either_order_and_in_pieces(rem, backwards):
    repo = rem.make_repo()
    sessions = [work(rem, repo, hook=False), work(rem, repo, hook=False)]
    first = sessions[-1 if backwards else 0]
    whole = first.path.read_text()
    first.path.write_text("".join(whole.splitlines(keepends=True)[:5]))
    for s in reversed(sessions) if backwards else sessions:
        rem.run("import", s.path)
    first.path.write_text(whole)
    rem.run("import", first.path)
    assert counts(rem) == {key: (2 * n, 2) for key, (n, _) in WANTED.items()}


def test_forgetting_takes_the_mentions_of_a_session_and_another_import_does_not_bring_them_back(rem):
    repo = rem.make_repo()
    a, b = work(rem, repo, hook=False), ClaudeSession(rem, repo)
    b.prompt("list the containers", hook=False)
    b.tool("Bash", {"command": "docker ps && git status"}, {"stdout": "", "stderr": ""}, hook=False)
    b.reply("There are no containers running on this machine at the moment.", hook=False)
    b.write()
    rem.run("import", a.path, b.path)
    assert counts(rem)[("tool", "git")] == (2, 2)
    rem.run("forget", "--session", b.id, "--yes")
    assert counts(rem) == WANTED
    rem.run("import", b.path)
    assert counts(rem) == WANTED
    rem.run("forget", "--session", a.id, "--yes")
    assert counts(rem) == {}
    assert "Nothing is mentioned here yet" in rem.run("entities").out + rem.run("entities").err


def test_one_event_forgotten_lowers_the_counts_of_its_turn(rem):
    repo = rem.make_repo()
    rem.run("import", work(rem, repo, hook=False).path)
    ref = [h for h in rem.json("search", "py.test", "--scope", "messages")["hits"] if h["kind"] == "tool"][0]["ref"]
    rem.run("forget", ref, "--yes")
    rem.run("import", repo)  # waits until what is dirty was observed
    after = counts(rem)
    assert after[("tool", "pytest")] == (3, 1) and after[("tool", "git")] == (1, 1)


def test_lists_filter_by_kind_project_and_time_and_page(rem):
    repo, other = rem.make_repo(), rem.make_repo(rem.scratch / "other")
    rem.run("import", work(rem, repo, hook=False).path, work(rem, other, hook=False).path)
    tools = rem.json("entities", "--kind", "tool")["entities"]
    assert [(e["name"], e["mentions"], e["sessions"]) for e in tools] == [("pytest", 4, 1), ("git", 1, 1), ("pip", 1, 1)]
    assert rem.json("entities", "--kind", "tool", "--project", "all")["entities"][0]["mentions"] == 8
    page = rem.json("entities", "--limit", "2", "--offset", "1")
    assert page["entities"] == rem.json("entities")["entities"][1:3] and page["total"] == len(WANTED)
    assert rem.json("entities", "--after", "tomorrow" if False else "2100-01-01")["entities"] == []
    assert rem.json("entities", "--before", "2001-01-01")["entities"] == []
    assert all(e["first_at"] <= e["last_at"] for e in tools)
    bad = rem.run("entities", "--kind", "tol", check=False)
    assert bad.status == 2 and "tool" in bad.err


def test_one_entity_shows_memories_neighbours_and_months_under_any_of_its_names(rem):
    repo = rem.make_repo()
    rem.run("import", work(rem, repo, hook=False).path)
    rem.run("remember", "pytest needs PYTHONPATH=src in this repository")
    one = rem.json("entities", "py.test")
    assert one["name"] == "pytest" and one["entities"][0]["mentions"] == 4
    titles = [m["title"] for m in one["memories"]]
    assert any("PYTHONPATH" in t for t in titles) and any("pars" in t for t in titles)
    assert not any("Pushed" in t for t in titles)
    assert {n["name"] for n in one["neighbours"]} == {"pip", "httpx", "python", "numpy"}
    assert [(m["mentions"], m["sessions"]) for m in one["months"]] == [(4, 1)]
    text = rem.run("entities", "pytest").out
    assert "pytest" in text and "with" in text and "httpx 1" in text
    unknown = rem.run("entities", "pytst", check=False)
    assert unknown.status != 0 and "near: pytest" in unknown.err


def test_agents_are_offered_entities_within_their_budget_of_tokens(rem):
    repo = rem.make_repo()
    rem.run("import", work(rem, repo, hook=False).path)
    lines = [{"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
             {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "entities", "arguments": {"name": "pytest"}}}]
    out = rem.run("mcp", input="".join(json.dumps(x) + "\n" for x in lines), cwd=repo).out
    replies = {r["id"]: r["result"] for r in map(json.loads, out.splitlines())}
    assert len(json.dumps(replies[1]["tools"], separators=(",", ":"))) / 4 < 1500
    assert "entities" in [t["name"] for t in replies[1]["tools"]]
    assert replies[2]["content"][0]["text"].startswith("pytest (tool) 4 in 1 sessions")
