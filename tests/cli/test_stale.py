"""Whether memories still hold: a scripted repository goes through edits, renames, branches, squash merges, rebases and worktrees
while memories are looked at from each place."""
import json
import pathlib
import shutil
import tempfile
import time

import pytest

from lib import ClaudeSession, wait_for


class Work:
    """One repository, and sessions that really edit its files."""

    def __init__(self, rem):
        self.rem = rem
        self.folder = pathlib.Path(tempfile.mkdtemp(dir="/var/tmp"))  # files below /tmp are no work on a project
        self.repo = rem.make_repo(self.folder / "repo", files={"README.md": "# Demo\n", "src/parser.c": "int parse(void) { return 1; }\n",
                                         "src/lexer.c": "int lex(void) { return 1; }\n"})
        rem.env.update(GIT_COMMITTER_DATE="2026-01-01T00:00:00Z")
        self.git("commit", "-q", "--amend", "--no-edit", "--date", "2026-01-01T00:00:00Z")
        del rem.env["GIT_COMMITTER_DATE"]
        rem.start()

    def git(self, *args, cwd=None):
        return self.rem.git(cwd or self.repo, *args)

    def commit(self, message, cwd=None):
        self.git("add", "-A", cwd=cwd)
        self.git("commit", "-q", "-m", message, cwd=cwd)

    def write(self, name, text, cwd=None):
        path = (cwd or self.repo) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def session(self, request, name, text, said, branch="main", cwd=None):
        """A session that edits one file and says something; gives its observation."""
        s = ClaudeSession(self.rem, cwd or self.repo)
        line = s.line
        s.line = lambda kind, message, **more: line(kind, message, **{"gitBranch": branch, **more})
        s.clock = int(time.time() * 1000) - 5000
        path = (cwd or self.repo) / name
        before = path.read_text() if path.exists() else ""
        s.prompt(request)
        self.write(name, text, cwd)
        s.tool("Edit", {"file_path": str(path), "old_string": before, "new_string": text},
               {"filePath": str(path), "oldString": before, "newString": text, "structuredPatch": []})
        s.clock = int(time.time() * 1000) - 1000
        s.reply(said)
        s.write()
        self.rem.json("import")

        def observation():
            hits = self.rem.json("search", said.split(".")[0], "--scope", "memories", cwd=self.repo)["hits"]
            return [h for h in hits if h["agent_session"] == s.id and h["kind"] == "observation"]
        return wait_for(observation, "the observation of '%s'" % request)[0]

    def record(self, hit):
        return self.rem.json("get", hit["ref"])["records"][0]

    def reason(self, hit):
        return self.record(hit)["suspect_reason"]

    def until(self, hit, wanted):
        wait_for(lambda: self.reason(hit) == wanted, "'%s', it is '%s'" % (wanted, self.reason(hit)), limit=20)

    def known(self, hit):
        """Waits until the keeper has taken down what the memory's files were."""
        return wait_for(lambda: all(f["hash"] for f in self.record(hit)["files"]), "the files' hashes", limit=20)

    def visible(self, hit, cwd=None):
        found = self.rem.json("search", hit["title"], "--scope", "memories", cwd=cwd or self.repo)["hits"]
        return [not h.get("other_branch", False) for h in found if h["ref"] == hit["ref"]] == [True]

    def context(self, cwd=None):
        return self.rem.json("context", cwd=cwd or self.repo)["text"]


@pytest.fixture
def work(rem):
    work = Work(rem)
    yield work
    rem.close()
    shutil.rmtree(work.folder)


def test_a_memory_is_suspect_while_its_file_differs_from_what_it_was(work):
    m = work.session("make parse return two", "src/parser.c", "int parse(void) { return 2; }\n",
                     "The parser in src/parser.c returns two now. Callers expect that.")
    work.known(m)
    assert work.reason(m) is None
    work.commit("parser returns two")
    assert work.reason(m) is None, "the commit of the work itself is no change"
    for n in (3, 4):
        time.sleep(1.1)  # commit times are whole seconds
        work.write("src/parser.c", "int parse(void) { return %d; }\n" % n)
        assert work.reason(m), "seen by stat before anybody compared"
        work.commit("parser returns %d" % n)
    work.rem.json("get", m["ref"])
    work.until(m, "parser.c changed in 2 commits since")
    hit = [h for h in work.rem.json("search", m["title"], cwd=work.repo)["hits"] if h["ref"] == m["ref"]][0]
    assert hit["suspect"] is True and hit["suspect_reason"] == "parser.c changed in 2 commits since"
    assert "[suspect: parser.c changed in 2 commits since]" in work.context()
    assert "suspect: parser.c changed in 2 commits since" in work.rem.json("recall", m["title"], cwd=work.repo)["text"]
    work.write("src/parser.c", "int parse(void) { return 2; }\n")
    work.until(m, None)
    work.write("src/parser.c", "int parse(void) { return 5; }\n")
    work.until(m, "parser.c changed in 2 commits since")


def test_a_person_who_approves_a_suspect_says_that_it_holds_for_the_files_as_they_are(work):
    m = work.session("make parse return two", "src/parser.c", "int parse(void) { return 2; }\n",
                     "The parser in src/parser.c returns two now. Callers expect that.")
    work.known(m)
    work.commit("two")
    time.sleep(1.1)  # commit times are whole seconds
    work.write("src/parser.c", "int parse(void) { return 2; } /* said otherwise */\n")
    work.commit("a comment")
    work.rem.json("get", m["ref"])
    work.until(m, "parser.c changed in 1 commit since")
    assert m["ref"] in [i["ref"] for i in work.rem.json("review", cwd=work.repo)["review"]]
    assert work.rem.json("review", m["ref"], "approve", cwd=work.repo)["action"] == "approved"
    assert work.reason(m) is None
    assert m["ref"] not in [i["ref"] for i in work.rem.json("review", cwd=work.repo)["review"]]
    hashes = {f["hash"] for f in work.record(m)["files"]}
    assert hashes == {work.git("hash-object", "src/parser.c").strip()}, "it rests on the file as it is now"
    work.write("README.md", "# Another look\n")
    work.commit("another file")
    work.context()
    assert work.reason(m) is None
    work.write("src/parser.c", "int parse(void) { return 3; }\n")
    wait_for(lambda: work.reason(m), "the next change to be seen", limit=20)


def test_a_file_that_is_renamed_or_gone_is_named(work):
    m = work.session("make lex return two", "src/lexer.c", "int lex(void) { return 2; }\n",
                     "The lexer in src/lexer.c returns two now. It counts tokens.")
    work.known(m)
    work.commit("lexer returns two")
    work.git("mv", "src/lexer.c", "src/scanner.c")
    work.commit("lexer is called scanner")
    work.until(m, "lexer.c renamed to src/scanner.c")
    moved = work.rem.json("files", "src/scanner.c", cwd=work.repo)["memories"]
    assert m["ref"] in [h["ref"] for h in moved], "what was known of the old name is known of the new one"
    work.git("rm", "-q", "src/scanner.c")
    work.commit("no scanner")
    work.until(m, "lexer.c renamed to src/scanner.c")
    n = work.session("add notes", "notes.txt", "remember\n", "The notes in notes.txt hold what to remember. They are short.")
    work.known(n)
    (work.repo / "notes.txt").unlink()
    work.until(n, "notes.txt is gone")


def test_work_of_a_branch_stays_there_until_it_is_merged(work):
    work.git("switch", "-q", "-c", "feature")
    m = work.session("make parse return nine", "src/parser.c", "int parse(void) { return 9; }\n",
                     "The parser in src/parser.c returns nine on this branch. That is for the feature.", branch="feature")
    work.known(m)
    assert work.visible(m) and m["title"] in work.context()
    work.git("stash", "-q")
    work.git("switch", "-q", "main")
    assert not work.visible(m) and m["title"] not in work.context()
    work.git("switch", "-q", "feature")
    work.git("stash", "pop", "-q")
    work.commit("nine")
    work.git("switch", "-q", "main")
    work.context()
    assert not work.visible(m)
    work.git("merge", "-q", "--no-ff", "-m", "merge", "feature")
    wait_for(lambda: work.visible(m) and m["title"] in work.context(), "the merged work to be seen", limit=20)
    assert work.reason(m) is None
    work.git("branch", "-q", "-D", "feature")
    assert work.visible(m)
    work.git("switch", "-q", "--detach", "HEAD~1")
    wait_for(lambda: not work.visible(m), "a detached head before the merge not to see it", limit=20)
    work.git("switch", "-q", "main")
    wait_for(lambda: work.visible(m), "the default branch to see it again", limit=20)


def test_a_decision_of_a_branch_holds_there_until_it_is_merged(work):
    def fact(text):
        found = [f for f in work.rem.json("facts", cwd=work.repo)["facts"] if text in f["title"]]
        return found[0] if found else None

    work.session("how shall lines be read", "src/lexer.c", "int lex(void) { return 2; }\n",
                 "Decided to read lines with `getline` instead of `fgets` because lines have no longest length.")
    work.git("add", "-A")
    work.rem.env.update(GIT_COMMITTER_DATE="2026-01-02T00:00:00Z")  # long before the next session begins
    work.git("commit", "-q", "-m", "getline")
    del work.rem.env["GIT_COMMITTER_DATE"]
    work.git("switch", "-q", "-c", "mapped")
    m = work.session("make the lexer map its file", "src/lexer.c", "int lex(void) { return 3; }\n",
                     "Decided to map the file with `mmap` instead of reading it because that is quicker. The lexer maps it.", branch="mapped")
    work.known(m)
    wait_for(lambda: fact("mmap"), "the decision of the branch")
    assert fact("mmap")["branch"] == "mapped" and not fact("mmap")["other_branch"] and "branch" not in fact("getline")
    work.commit("mmap")
    work.git("switch", "-q", "main")
    assert fact("mmap")["other_branch"] and not fact("getline").get("other_branch")
    assert "on branch mapped" in work.rem.run("facts", cwd=work.repo).out
    calls = [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}}},
             {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "search_facts", "arguments": {"query": "mmap"}}}]
    told = work.rem.run("mcp", input="".join(json.dumps(c) + "\n" for c in calls), cwd=work.repo).out.splitlines()[-1]
    assert "unmerged branch mapped only" in told
    work.context()
    work.git("merge", "-q", "--no-ff", "-m", "merge", "mapped")
    wait_for(lambda: work.context() and not fact("mmap")["other_branch"], "the merged decision to hold here", limit=20)


def test_a_squash_merge_is_recognised_by_the_contents(work):
    work.git("switch", "-q", "-c", "squashed")
    first = work.session("make parse return six", "src/parser.c", "int parse(void) { return 6; }\n",
                         "The parser in src/parser.c returns six first. A step on the way.", branch="squashed")
    work.known(first)
    work.commit("six")
    work.context()
    time.sleep(1.1)
    second = work.session("make parse return seven", "src/parser.c", "int parse(void) { return 7; }\n",
                          "The parser in src/parser.c returns seven in the end. Done with it.", branch="squashed")
    work.known(second)
    work.commit("seven")
    wait_for(lambda: work.visible(first) and work.visible(second), "both to be seen on their branch")
    work.git("switch", "-q", "main")
    work.write("README.md", "# Meanwhile\n")
    work.commit("meanwhile on main")
    work.context()
    assert not work.visible(first) and not work.visible(second)
    work.git("merge", "-q", "--squash", "squashed")
    work.git("commit", "-q", "-m", "all of it at once")
    work.git("branch", "-q", "-D", "squashed")
    wait_for(lambda: work.visible(second), "the squashed work to be seen", limit=20)
    wait_for(lambda: work.visible(first), "the step before it too", limit=20)


def test_a_rebased_branch_arrives_too(work):
    work.git("switch", "-q", "-c", "moved")
    m = work.session("make lex return five", "src/lexer.c", "int lex(void) { return 5; }\n",
                     "The lexer in src/lexer.c returns five on a branch that moves. It will be rebased.", branch="moved")
    work.known(m)
    work.commit("five")
    work.git("switch", "-q", "main")
    work.write("README.md", "# Meanwhile\n")
    work.commit("meanwhile")
    work.context()
    assert not work.visible(m)
    work.git("switch", "-q", "moved")
    work.git("rebase", "-q", "main")
    work.git("switch", "-q", "main")
    work.git("merge", "-q", "--ff-only", "moved")
    work.git("branch", "-q", "-d", "moved")
    wait_for(lambda: work.visible(m), "the rebased work to be seen", limit=20)


def test_a_branch_that_was_given_up_never_arrives(work):
    work.git("switch", "-q", "-c", "given-up")
    m = work.session("make lex return eight", "src/lexer.c", "int lex(void) { return 8; }\n",
                     "The lexer in src/lexer.c returns eight, as a trial. Perhaps not a good one.", branch="given-up")
    work.known(m)
    work.commit("eight")
    work.context()
    work.git("switch", "-q", "main")
    work.git("branch", "-q", "-D", "given-up")
    work.write("src/lexer.c", "int lex(void) { return 3; }\n")
    work.commit("another way")
    work.context()
    other = work.session("make parse return three", "src/parser.c", "int parse(void) { return 3; }\n",
                         "The parser in src/parser.c returns three as the lexer does. Both agree.")
    work.known(other)
    assert work.visible(other) and not work.visible(m) and m["title"] not in work.context()


def test_a_worktree_looks_from_its_own_head(work):
    tree = work.folder / "tree"
    work.git("worktree", "add", "-q", "-b", "side", str(tree))
    m = work.session("make parse return four", "src/parser.c", "int parse(void) { return 4; }\n",
                     "The parser in src/parser.c returns four in the other tree. A side track.", branch="side", cwd=tree)
    work.known(m)
    assert work.visible(m, cwd=tree) and m["title"] in work.context(cwd=tree)
    assert not work.visible(m) and m["title"] not in work.context()
    assert work.reason(m) is None, "the main tree's file is not held against work of another branch"
    work.commit("four", cwd=tree)
    work.git("merge", "-q", "side")
    wait_for(lambda: work.visible(m), "the main tree to see it", limit=20)
    assert work.reason(m) is None


def test_without_git_files_are_compared_all_the_same(work):
    shutil.rmtree(work.repo / ".git")
    m = work.session("make parse return two", "src/parser.c", "int parse(void) { return 2; }\n",
                     "The parser in src/parser.c returns two without git. Callers expect that.", branch="")
    work.known(m)
    work.write("src/parser.c", "int parse(void) { return 3; }\n")
    work.until(m, "parser.c changed since")
    assert work.visible(m)


def test_an_idle_keeper_costs_nothing(work):
    work.session("make parse return two", "src/parser.c", "int parse(void) { return 2; }\n",
                 "The parser in src/parser.c returns two now. Callers expect that.")
    pid = work.rem.pid()

    def ticks():
        fields = open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()
        return int(fields[11]) + int(fields[12])
    time.sleep(1.5)
    before = ticks()
    time.sleep(2)
    assert ticks() - before <= 1


def test_a_line_a_file_and_a_commit_lead_to_the_words_behind_them(work):
    work.known(work.session("make parse return two because callers count from two", "src/parser.c", "int parse(void) { return 2; }\n",
                            "The parser in src/parser.c returns two now. Callers expect that."))
    work.commit("parser returns two")
    head = work.git("rev-parse", "HEAD")
    work.known(work.session("make lex return two", "src/lexer.c", "int lex(void) { return 2; }\n",
                            "The lexer in src/lexer.c returns two as well. It counts tokens."))
    line = work.rem.json("blame", "src/parser.c:1", cwd=work.repo)
    assert line["text"] == "int parse(void) { return 2; }" and line["commit"]["hash"] == head
    assert [s["how"] for s in line["sources"]] == ["edit"]
    assert line["sources"][0]["prompt"]["text"] == "make parse return two because callers count from two"
    assert line["sources"][0]["reply"]["text"].startswith("The parser in src/parser.c returns two now.")
    commit = work.rem.json("blame", head[:8], cwd=work.repo)
    assert commit["sources"][0]["session"] == line["sources"][0]["session"]
    whole = work.rem.json("blame", "src/lexer.c", cwd=work.repo)
    assert whole["sources"][0]["prompt"]["text"] == "make lex return two"
    assert "make parse return two because callers count from two" in work.rem.run("blame", "src/parser.c:1", cwd=work.repo).out
    for wrong in ("src/parser.c:99", "src/none.c:1", "deadbeef"):
        done = work.rem.run("blame", wrong, cwd=work.repo, check=False)
        assert done.status != 0 and done.err.strip()
    assert work.rem.json("blame", "README.md:1", cwd=work.repo)["sources"] == []


def test_blame_reads_a_file_where_it_lies_also_where_no_session_was(work):
    text = "int parse(void) { return 2; }\n"
    work.known(work.session("make parse return two because callers count from two", "src/parser.c", text,
                            "The parser in src/parser.c returns two now. Callers expect that."))
    work.commit("parser returns two")
    strange = work.rem.make_repo(work.rem.scratch / "strange", {"src/other.c": "int other(void);\n"})
    head = work.rem.git(strange, "rev-parse", "HEAD")
    for folder, name in ((strange, "src/other.c"), (strange / "src", "other.c"), (strange, strange / "src" / "other.c")):
        line = work.rem.json("blame", "%s:1" % name, cwd=folder)
        assert line["text"] == "int other(void);" and line["commit"]["hash"] == head and line["sources"] == []
    assert work.rem.json("blame", head[:8], cwd=strange)["commit"]["hash"] == head
    # a linked tree: its own line, not that of the main one
    tree = work.rem.scratch / "tree"
    work.git("worktree", "add", "-q", "-b", "beside", str(tree))
    (tree / "src" / "parser.c").write_text("/* new */\n" + text)
    beside = work.rem.json("blame", "src/parser.c:2", cwd=tree)
    assert beside["text"] == text.strip()
    assert [s["how"] for s in beside["sources"]] == ["edit"]
    plain = work.rem.scratch / "plain"
    plain.mkdir()
    (plain / "a.txt").write_text("one line of text\n")
    assert work.rem.json("blame", "a.txt:1", cwd=plain)["text"] == "one line of text"
    done = work.rem.run("blame", head[:8], cwd=plain, check=False)
    assert done.status != 0 and done.err.strip()


def test_a_file_brings_its_past_before_it_is_read_once_a_session(work):
    m = work.session("make parse return two", "src/parser.c", "int parse(void) { return 2; }\n",
                     "The parser in src/parser.c returns two now. Callers expect that.")
    later = ClaudeSession(work.rem, work.repo)
    later.prompt("look at the parser")
    work.rem.drained()

    def ask(tool, **tool_input):
        return later.hook("PreToolUse", tool_name=tool, tool_input=tool_input, tool_use_id="toolu_x")
    assert ask("Read", file_path=str(work.repo / "README.md")) == ""
    said = json.loads(ask("Read", file_path=str(work.repo / "src/parser.c")))
    assert set(said) == {"hookSpecificOutput"}
    assert set(said["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}, "never a permission decision"
    assert m["title"] in said["hookSpecificOutput"]["additionalContext"] and len(said["hookSpecificOutput"]["additionalContext"]) <= 1500
    wait_for(lambda: ask("Read", file_path=str(work.repo / "src/parser.c")) == "", "the second reading to bring nothing", limit=20)
    assert ask("Bash", command="ls") == "" and ask("Grep", pattern="x") == ""
    assert later.hook("PostToolUseFailure", tool_name="Bash", tool_input={"command": "make"}, tool_use_id="toolu_y", error="Exit code 2\nno") == ""
