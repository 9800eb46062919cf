"""why: what a session was given, at what cost, and what it used of it; and the titles of sessions."""
import json

import pytest

from lib import ClaudeSession, wait_for


def why(rem, session):
    """The injections of a session once its turns were looked at."""
    def looked():
        rem.json("import", session.path)
        reply = rem.json("why", session.id)
        memories = [m for i in reply["injections"] for m in i["memories"]]
        return reply if memories and all(m["used"] is not None for m in memories) else None
    return wait_for(looked, "the session's turns to be looked at")


@pytest.fixture
def noted(rem):
    """A project with three notes of which a session will be told."""
    rem.make_repo(files={"README.md": "# Demo\n", "src/ledger.py": "x = 1\n"})
    rem.refs = {
        "words": rem.json("remember", "The ledger rounds half-even because the tax office compares sums in cents.")["ref"],
        "command": rem.json("remember", "Migrations are tried with `./scripts/migrate --dry-run staging` before anything else.")["ref"],
        "file": rem.json("remember", "Amounts are integers.", "--file", "src/ledger.py")["ref"],
        "none": rem.json("remember", "Zebra crossing photographs belong into the marketing bucket.")["ref"],
    }
    return rem


def start(rem, session):
    out = session.hook("SessionStart", source="startup")
    assert "half-even" in out
    return out


def test_what_a_session_was_given_is_told_with_its_place_and_cost(noted):
    s = ClaudeSession(noted, noted.repo)
    s.clock += 3660_000  # hooks come in real time, and before what they lead to
    text = json.loads(start(noted, s))["hookSpecificOutput"]["additionalContext"]
    s.prompt("please make the totals right in the report")
    s.reply("The totals are right now.")
    reply = why(noted, s)
    assert set(reply) >= {"session", "agent", "agent_session", "project", "title", "injections", "given", "used", "chars", "tokens"}
    first = reply["injections"][-1]
    assert first["where"] == "start" and first["chars"] == len(text) and 0 < first["tokens"] <= first["chars"]
    assert {m["ref"] for m in first["memories"]} == set(noted.refs.values())
    assert reply["used"] == 0 and reply["given"] >= 4


def test_what_the_session_used_is_marked_with_how(noted):
    s = ClaudeSession(noted, noted.repo)
    s.clock += 3660_000  # hooks come in real time, and before what they lead to
    start(noted, s)
    s.prompt("please make the totals right in the report")
    s.tool("Edit", {"file_path": str(noted.repo / "src/ledger.py"), "old_string": "x", "new_string": "y"},
           {"filePath": str(noted.repo / "src/ledger.py"), "structuredPatch": []})
    s.tool("Bash", {"command": "cd /srv && ./scripts/migrate --dry-run staging"}, {"stdout": "ok"})
    s.reply("Sums are rounded half-even, as the tax office compares cents; the report does so now too.")
    how = {m["ref"]: m["how"] for i in why(noted, s)["injections"] for m in i["memories"]}
    assert how[noted.refs["words"]] == ["words"]
    assert how[noted.refs["command"]] == ["command"]
    assert how[noted.refs["file"]] == ["file"]
    assert how[noted.refs["none"]] == []
    out = noted.run("why", s.id).out
    assert "used: file" in out and "used: words" in out and "3 used" in out
    assert all(len(line) <= 80 for line in out.splitlines())


def test_using_counts_a_little_and_is_bounded(noted):
    s = ClaudeSession(noted, noted.repo)
    s.clock += 3660_000  # hooks come in real time, and before what they lead to
    start(noted, s)
    s.prompt("please make the totals right in the report")
    s.reply("Sums are rounded half-even, as the tax office compares cents; the report does so now too.")
    prior = {m["ref"]: m["prior"] for i in why(noted, s)["injections"] for m in i["memories"]}
    assert 0 < prior[noted.refs["words"]] <= 0.1
    assert -0.03 <= prior[noted.refs["none"]] < 0


def test_words_that_the_prompt_brought_are_no_use(noted):
    s = ClaudeSession(noted, noted.repo)
    s.clock += 3660_000  # hooks come in real time, and before what they lead to
    start(noted, s)
    s.prompt("does the ledger round half-even because the tax office compares sums in cents?")
    s.reply("The ledger rounds half-even because the tax office compares sums in cents, yes.")
    used = {m["ref"] for i in why(noted, s)["injections"] for m in i["memories"] if m["used"]}
    assert noted.refs["words"] not in used


def test_without_injections_why_says_what_to_do(rem):
    rem.make_repo()
    assert "remanence context" in rem.run("why").out
    assert rem.json("why")["injections"] == []
    assert rem.run("why", "s99", check=False).status == 4


def session_with(rem, prompts, title=None):
    s = ClaudeSession(rem, rem.repo)
    for n, text in enumerate(prompts):
        s.prompt(text, hook=False)
        if n:
            s.tool("Edit", {"file_path": str(rem.repo / "up.py"), "old_string": "a", "new_string": "b"},
                   {"filePath": str(rem.repo / "up.py"), "structuredPatch": []}, hook=False)
        s.reply("The upload client in `up.py` waits twice as long after failure number %d." % n, hook=False)
    if title:
        s.lines.append({"type": "ai-title", "aiTitle": title, "sessionId": s.id})
    s.write()
    return s


def titles(rem):
    return {x["agent_session"]: x["title"] for x in rem.json("sessions")["sessions"]}


def test_a_session_is_called_by_its_first_prompt_that_means_something(rem):
    rem.make_repo()
    s = session_with(rem, ["hi", "continue", "Add a retry with backoff to the upload client", "rename everything else"])
    rem.json("import")
    title = titles(rem)[s.id]
    assert "retry" in title and "upload client" in title
    hit = rem.json("search", "retry backoff upload", "--scope", "sessions")["hits"][0]
    assert hit["title"] == title
    assert title[:20] in rem.run("sessions").out
    rem.json("forget", "--match", "retry with backoff", "--yes")
    assert "retry" not in (titles(rem).get(s.id) or "")


def test_the_context_names_the_last_session(rem):
    rem.make_repo()
    s = ClaudeSession(rem, rem.repo)
    s.prompt("please make getUserName tolerate a missing name in the profile", hook=False)
    s.tool("Edit", {"file_path": str(rem.repo / "src/profile.py"), "old_string": "x", "new_string": "y"},
           {"filePath": str(rem.repo / "src/profile.py"), "structuredPatch": []}, hook=False)
    s.reply("`getUserName` in src/profile.py now falls back to the e-mail address when the profile has no name; 4 tests pass.", hook=False)
    s.write()
    rem.json("import")
    assert "session s1: " + titles(rem)[s.id] in rem.json("context")["text"]


def test_the_title_is_the_same_whatever_the_order_of_import(rem):
    rem.make_repo()
    s = session_with(rem, ["Write the parser for dates", "Write the parser for times"])
    whole = s.path.read_text()
    s.path.write_text("".join(whole.splitlines(True)[2:]))
    rem.json("import")
    s.path.write_text(whole)
    rem.json("import")
    assert "dates" in titles(rem)[s.id]
