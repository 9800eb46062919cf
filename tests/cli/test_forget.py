"""Forgetting: what goes is shown first, is gone from every file, and stays gone."""
import json

import pytest

from lib import ClaudeSession

SECRET = "Quixotewindmill"


def session(rem, words, day=0):
    s = ClaudeSession(rem, rem.repo)
    s.clock -= day * 86400_000
    s.prompt("please make %s tolerate a missing name in the profile" % words, hook=False)
    s.tool("Edit", {"file_path": str(rem.repo / "src/profile.py"), "old_string": words, "new_string": "y"},
           {"filePath": str(rem.repo / "src/profile.py"), "structuredPatch": []}, hook=False)
    s.tool("Bash", {"command": "pytest -q -k %s" % words}, {"stdout": "4 passed in %s" % words}, hook=False)
    s.reply("`%s` in src/profile.py now falls back to the e-mail address when the profile has no name; 4 tests pass." % words, hook=False)
    s.write()
    return s


@pytest.fixture
def two(rem):
    """Two sessions, the older one about what will be forgotten."""
    rem.make_repo(files={"src/profile.py": "x\n"})
    rem.old, rem.new = session(rem, SECRET, day=10), session(rem, "keepThisName")
    rem.json("import")
    return rem


def holders(rem, text=SECRET):
    """Files of the data folder that hold the text, backups apart. The daemon is stopped for it."""
    rem.run("stop")
    return [str(p.relative_to(rem.home)) for p in rem.home.rglob("*")
            if p.is_file() and "backup" not in p.parts and text.lower().encode() in p.read_bytes().lower()]


def is_found(rem, text=SECRET):
    hits = rem.json("search", text, "--scope", "all", "--project", "all")["hits"] + rem.json("search", text, "--scope", "sessions")["hits"]
    return any(text.lower() in json.dumps(h).lower() for h in hits)


def ways(rem):
    ref = next(s["ref"] for s in rem.json("sessions")["sessions"] if s["agent_session"] == rem.old.id)
    return {"session": ["--session", ref], "id": ["--session", rem.old.id], "before": ["--before", "5d"], "match": ["--match", SECRET.lower()],
            "project": ["--project", "repo"]}


@pytest.mark.parametrize("way", ["session", "id", "before", "match", "project"])
def test_what_is_forgotten_is_shown_then_gone_from_every_file_and_stays_gone(two, way):
    args = ways(two)[way]
    plan = two.json("forget", *args, "--dry-run")["plan"]
    assert plan["events"] > 0 and plan["items"] and is_found(two)
    refused = two.run("forget", *args, check=False)
    assert refused.status == 2 and "erase" in refused.err and is_found(two)
    done = two.json("forget", *args, "--yes")
    assert done["events"] == plan["events"] and done["memories"] == plan["memories"]
    assert not is_found(two)
    assert holders(two) == []
    two.json("import")
    two.json("import", two.old.path)
    two.run("reindex")
    assert not is_found(two) and holders(two) == []
    assert is_found(two, "keepThisName") == (way != "project")


def test_what_waits_in_quarantine_goes_too(two):
    two.run("stop")
    bad = two.home / "spool" / "bad"
    bad.mkdir(parents=True, exist_ok=True)
    (bad / "1-x").write_text("rubbish %s rubbish" % SECRET)
    (bad / "2-x").write_text("other rubbish")
    two.json("forget", "--match", SECRET, "--yes")
    assert holders(two) == [] and (bad / "2-x").exists()


def test_facts_entities_and_titles_hold_nothing_of_it(two):
    two.json("forget", "--match", SECRET, "--yes")
    for words in (["facts", "--project", "all"], ["entities", "--project", "all"], ["sessions"], ["stats"], ["review", "--project", "all"], ["export"]):
        assert SECRET.lower() not in two.run(*words).out.lower(), words


def test_a_restored_backup_does_not_bring_it_back_unsaid(two):
    backup = two.scratch / "b.db"
    two.json("backup", backup)
    args = ways(two)["session"]
    two.json("forget", *args, "--yes")
    done = two.run("restore", backup, "--yes")
    assert "forgotten" in (done.out + done.err).lower()
    assert not is_found(two) and holders(two) == []
    two.json("import", two.old.path)
    assert not is_found(two) and is_found(two, "keepThisName")


def test_backups_that_still_hold_it_are_named(two):
    made = two.json("backup")["file"]
    done = two.json("forget", "--match", SECRET, "--yes")
    assert any(made in json.dumps(b) for b in done["backups"])


def test_a_rejected_memory_stays_rejected_after_another_import(two):
    ref = two.json("search", "keepThisName", "--kind", "summary")["hits"][0]["ref"]
    two.json("review", ref, "reject")
    two.new.reply("One word more about keepThisName.", hook=False)
    two.new.write()
    two.json("import")
    assert two.json("get", ref)["records"][0]["status"] == "rejected"
    assert ref not in [h["ref"] for h in two.json("search", "keepThisName", "--kind", "summary")["hits"]]
