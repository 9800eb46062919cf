"""Transcripts on disk: read once, resumed, whatever is wrong with them."""
import json
import os
import pathlib

import pytest

from lib import ClaudeSession, Remanence, wait_for


def session_with_work(rem, repo, word="pangolin"):
    s = ClaudeSession(rem, repo)
    s.prompt("please repair the %s importer" % word, hook=False)
    s.tool("Bash", {"command": "make test"}, None, failed="Exit code 2\n%s.c:10: error: expected ';'" % word, hook=False)
    s.tool("Edit", {"file_path": str(repo / ("%s.c" % word)), "old_string": "a", "new_string": "a;"},
           {"filePath": str(repo / ("%s.c" % word)), "structuredPatch": []}, hook=False)
    s.tool("Bash", {"command": "make test"}, {"stdout": "all tests passed"}, hook=False)
    s.reply("The %s importer works again. A semicolon was missing in %s.c, so the build failed.\n\nNext: cover the empty file." % (word, word), hook=False)
    s.write()
    return s


def test_importing_again_adds_nothing_and_a_longer_file_adds_its_tail(rem):
    s = session_with_work(rem, rem.make_repo())
    first = rem.json("import", s.path)
    assert first["files"] == 1 and first["sessions"] == 1 and first["new_events"] == 5
    stats = rem.json("stats")
    again = rem.json("import", s.path)
    assert again["new_events"] == 0 and rem.json("stats")["memories"] == stats["memories"]
    s.prompt("and now the exporter", hook=False)
    s.reply("The exporter is repaired too, it shared the missing semicolon.", hook=False)
    s.write()
    assert rem.json("import", s.path)["new_events"] == 2


def test_the_agents_own_folders_are_found(rem):
    session_with_work(rem, rem.make_repo())
    assert rem.json("import")["new_events"] == 5
    hits = rem.json("search", "pangolin semicolon")["hits"]
    assert hits and "pangolin" in hits[0]["title"].lower() + hits[0]["snippet"].lower()


def test_a_torn_last_line_waits_for_its_rest(rem):
    s = session_with_work(rem, rem.make_repo())
    data = s.path.read_bytes()
    s.path.write_bytes(data[:-40])
    assert rem.json("import", s.path)["new_events"] == 4
    s.path.write_bytes(data)
    assert rem.json("import", s.path)["new_events"] == 1


def test_a_bad_line_is_skipped_and_named(rem):
    s = session_with_work(rem, rem.make_repo())
    lines = s.path.read_bytes().splitlines(True)
    lines[1:1] = [b"[]\n", b"{not json}\n", b'"text"\n', b"\xff\xfe\x00\n", b"\n", b"[" * 200 + b"]" * 200 + b"\n"]
    s.path.write_bytes(b"".join(lines))
    reply = rem.json("import", s.path)
    assert reply["new_events"] == 5
    assert any(x["path"].startswith(str(s.path)) and ":3" in x["path"] + x["reason"] for x in reply["skipped"]), reply["skipped"]


@pytest.mark.parametrize("make", ["folder", "fifo", "unreadable", "empty", "binary", "missing"])
def test_what_is_no_transcript_is_refused_in_a_sentence(rem, make):
    path = rem.scratch / "odd.jsonl"
    if make == "folder":
        path.mkdir()
    elif make == "fifo":
        os.mkfifo(path)
    elif make == "empty":
        path.write_text("")
    elif make == "binary":
        path.write_bytes(bytes(range(256)) * 64)
    elif make == "unreadable":
        if os.geteuid() == 0:
            pytest.skip("root reads everything")
        path.write_text("{}")
        path.chmod(0)
    done = rem.run("--json", "import", path, check=False, timeout=30)
    if make == "missing":
        assert done.status == 4 and str(path) in done.err
    else:
        assert done.status == 0
        assert done.json["new_events"] == 0
        if make not in ("folder", "empty"):
            assert done.json["skipped"][0]["reason"]


def test_a_line_of_100_mb_is_taken_in_bounded_memory(rem):
    s = session_with_work(rem, rem.make_repo())
    s.tool("Bash", {"command": "cat huge"}, {"stdout": "TAG-BEGIN " + "0123456789 abcdef " * 6_000_000 + " TAG-END"}, hook=False)
    s.write()
    pid = rem.start()
    assert rem.json("import", s.path)["new_events"] == 6
    peak = int(next(line for line in pathlib.Path("/proc/%d/status" % pid).read_text().splitlines() if line.startswith("VmHWM")).split()[1])
    if "ASAN_OPTIONS" not in rem.env and "TSAN_OPTIONS" not in rem.env:
        mapped = 0
        assert peak - mapped < 96 * 1024, peak
    assert rem.json("search", "TAG-BEGIN", "--scope", "messages")["hits"]


def test_a_transcript_rewritten_or_deleted_meanwhile_does_no_harm(rem):
    s = session_with_work(rem, rem.make_repo())
    rem.json("import", s.path)
    s.path.write_bytes(b"".join(s.path.read_bytes().splitlines(True)[:2]))
    assert rem.json("import", s.path)["new_events"] == 0
    s.path.unlink()
    assert rem.run("import", s.path, check=False).status == 4
    assert rem.json("stats")["events"] == 5


def test_a_dry_run_stores_nothing(rem):
    s = session_with_work(rem, rem.make_repo())
    reply = rem.json("import", s.path, "--dry-run")
    assert reply["files"] == 1
    assert rem.json("stats", "--project", "all")["events"] == 0


def test_a_killed_import_goes_on_where_it_was(rem):
    import subprocess
    import sys
    sys.path.insert(0, str(pathlib.Path(__file__).parent.parent.parent / "bench"))
    from corpus import Corpus
    folder = rem.scratch / "history"
    Corpus(5).write(folder, 2000)
    rem.start()
    p = subprocess.Popen([str(rem.client), "--json", "import", str(folder)], env=rem.env, stdout=subprocess.PIPE)
    p.stdout.readline()  # the first progress record: it is under way
    rem.kill()
    p.communicate()
    rem.json("import", folder, timeout=300)
    stats = rem.json("stats", "--project", "all")
    assert (stats["sessions"], stats["events"]) == (100, 2000 * 4)


def test_worktrees_and_clones_are_one_project_and_namesakes_are_not(rem):
    a = rem.make_repo(rem.scratch / "one" / "app")
    rem.git(a, "remote", "add", "origin", "https://user:secret@example.org/Team/App.git")
    rem.git(a, "worktree", "add", "-q", "-b", "side", str(rem.scratch / "side"))
    clone = rem.make_repo(rem.scratch / "clone")
    rem.git(clone, "remote", "add", "origin", "git@example.org:team/app.git")
    other = rem.make_repo(rem.scratch / "two" / "app")
    sub = a / "deep" / "er"
    sub.mkdir(parents=True)
    for folder in (a, rem.scratch / "side", clone, other, sub):
        session_with_work(rem, folder)
    rem.json("import")
    projects = rem.json("projects")["projects"]
    assert sorted(p["sessions"] for p in projects) == [1, 4]
    assert b"secret" not in b"".join(p.read_bytes() for p in rem.home.rglob("*") if p.is_file())


def test_a_folder_that_is_gone_still_makes_a_project(rem):
    gone = rem.scratch / "gone" / "repo"
    session_with_work(rem, gone)
    rem.json("import")
    assert rem.json("projects")["projects"][0]["name"] == "repo"


def test_excluded_folders_and_tools_are_left_out(rem):
    secret = rem.make_repo(rem.scratch / "secret")
    session_with_work(rem, secret, "numbat")
    repo = rem.make_repo()
    session_with_work(rem, repo, "okapi")
    rem.run("config", "set", "capture.exclude", str(secret))
    rem.run("config", "set", "capture.skip_tools", "Edit")
    reply = rem.json("import")
    assert reply["new_events"] == 4
    assert rem.json("search", "numbat", "--project", "all", "--scope", "all")["hits"] == []


def test_copied_history_of_a_resumed_session_is_stored_once(rem):
    repo = rem.make_repo()
    s = session_with_work(rem, repo)
    fork = ClaudeSession(rem, repo)
    fork.lines = [dict(line, sessionId=fork.id) for line in s.lines]
    fork.last = s.last
    fork.clock = s.clock
    fork.prompt("a new prompt in the fork", hook=False)
    fork.reply("The fork answers: nothing else had to change.", hook=False)
    fork.write()
    rem.json("import")
    assert rem.json("stats")["events"] == 7


def test_the_same_session_by_hooks_and_by_import_gives_the_same_memories(rem, scratch, build):
    repo = rem.make_repo()
    s = ClaudeSession(rem, repo)
    s.prompt("please repair the quokka importer")
    s.tool("Bash", {"command": "make test"}, None, failed="Exit code 2\nquokka.c:10: error: expected ';'")
    s.tool("Edit", {"file_path": str(repo / "quokka.c"), "old_string": "a", "new_string": "a;"}, {"filePath": str(repo / "quokka.c"), "structuredPatch": []})
    s.tool("Bash", {"command": "make test"}, {"stdout": "all tests passed"})
    s.reply("The quokka importer works again. A semicolon was missing in quokka.c.\n\nNext: cover the empty file.")
    s.hook("SessionEnd", reason="other")
    rem.drained()
    live = wait_for(lambda: exported(rem) or None, "memories")
    folder = scratch / "second"
    folder.mkdir()
    second = Remanence(build, folder)
    try:
        second.json("import", s.path)
        assert exported(second) == live
    finally:
        second.close()


def exported(rem):
    out = rem.run("export", "--format", "jsonl", "--project", "all").out
    return sorted((d["kind"], d.get("type") or "", d["title"], d.get("body") or "") for d in map(json.loads, out.splitlines())
                  if d.get("record", "memory") == "memory")
