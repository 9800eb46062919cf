"""Two people's daemons on one PostgreSQL store: what is private stays its author's whatever door a colleague tries, what is shared is there with its author's name."""
import json
import pathlib
import subprocess
import urllib.parse
import uuid

import pytest

from door import Door
from lib import ClaudeSession, Remanence, wait_for
from test_postgres import CACHE

# Every text of Ada's has both: the one is asked for, the other one must not be seen. No question holds it.
WORD, SECRET = "zephyrquark", "plumbagine"
SPELT = WORD[:-1] + "q"


class Team:
    def __init__(self, build, scratch, postgres, is_apart):
        self.where = dict(urllib.parse.parse_qsl(postgres.split("?", 1)[1]))
        self.name = "own_" + uuid.uuid4().hex[:8]
        self.psql("CREATE DATABASE %s" % self.name, database="postgres")
        self.logins, self.people = {"ada": "postgres", "bob": "postgres"}, {}
        if is_apart:
            self.make_logins()
        for who in self.logins:
            (scratch / who).mkdir()
            rem = self.people[who] = Remanence(build, scratch / who)
            rem.env["REMANENCE_AUTHOR"] = who
            rem.env["REMANENCE_STORE"] = self.url(self.logins[who])
            rem.env["REMANENCE_SEARCH_LOG"] = "text"
            rem.make_repo()
            rem.git(rem.repo, "remote", "add", "origin", "https://git.example.org/team/app.git")
        self.ada, self.bob = self.people["ada"], self.people["bob"]

    def make_logins(self):
        """As docs/postgresql.md says: the tables belong to a role that nobody works as."""
        for who in ("owner", "ada", "bob"):
            self.logins[who] = "%s_%s" % (self.name, who)
            self.psql("CREATE ROLE %s LOGIN" % self.logins[who])
        owner = self.logins.pop("owner")
        self.psql("CREATE SCHEMA remanence AUTHORIZATION %s" % owner)
        self.made = owner

    def grant(self):
        for who in ("ada", "bob"):
            self.psql("GRANT USAGE ON SCHEMA remanence TO {0}; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA remanence TO {0};"
                      "GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA remanence TO {0}".format(self.logins[who]))

    def url(self, role, database=None):
        return "postgres://%s@/%s?%s" % (role, database or self.name, urllib.parse.urlencode(self.where))

    def psql(self, sql, role="postgres", database=None, check=True):
        program = next(pathlib.Path(CACHE).glob("postgres-*/*/pginstall/bin/psql"))
        done = subprocess.run([program, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", self.where["host"], "-p", self.where["port"], "-U", role,
                               "-d", database or self.name], input=sql, capture_output=True, text=True, timeout=60, check=False)
        assert not check or done.returncode == 0, done.stderr
        return done.stdout if done.returncode == 0 else done.stderr

    def close(self):
        for rem in self.people.values():
            rem.close()
        self.psql("DROP DATABASE %s WITH (FORCE)" % self.name, database="postgres")
        for role in [v for v in self.logins.values() if v != "postgres"] + [getattr(self, "made", None)]:
            if role:
                self.psql("DROP ROLE %s" % role, database="postgres", check=False)


@pytest.fixture(params=["one-login", "logins-of-their-own"])
def team(request, build, scratch, postgres):
    t = Team(build, scratch, postgres, request.param == "logins-of-their-own")
    if request.param != "one-login":
        # The owner's daemon makes the tables, works for nobody of the two, and leaves.
        (scratch / "owner").mkdir()
        owner = Remanence(build, scratch / "owner")
        owner.env["REMANENCE_STORE"], owner.env["REMANENCE_AUTHOR"] = t.url(t.made), "keeper of the tables"
        owner.start()
        owner.run("stop")
        t.grant()
    yield t
    t.close()


def plant(rem):
    """A session, a note, a fact, a folder: Ada's words are everywhere that words can be."""
    rem.start()
    s = ClaudeSession(rem, rem.repo)
    s.hook("SessionStart", source="startup")
    s.prompt("Please find out why the %s parser fails with %s; always use %s for %s" % (WORD, SECRET, SECRET, WORD))
    s.tool("Bash", {"command": "pip install %s-%s && make %s" % (WORD, SECRET, SECRET)}, "",
           failed="Exit code 2\n%s.c:12: error: unknown type name '%s_t'" % (WORD, SECRET))
    s.tool("Edit", {"file_path": "%s/%s.%s.c" % (rem.repo, WORD, SECRET), "old_string": "a", "new_string": SECRET},
           {"filePath": "%s/%s.%s.c" % (rem.repo, WORD, SECRET)})
    s.tool("Bash", {"command": "pip install %s-%s && make %s" % (WORD, SECRET, SECRET)}, {"stdout": "ok " + SECRET, "stderr": "", "interrupted": False})
    s.reply("The %s parser lacked %s; it is declared now." % (WORD, SECRET))
    s.write()
    rem.hook("SessionEnd", s.base("SessionEnd", reason="exit"))
    rem.drained()
    rem.run("import")
    own = rem.make_repo(rem.scratch / (WORD + "-" + SECRET))
    rem.run("remember", "%s is what %s is called here" % (WORD, SECRET), cwd=own)
    rem.run("remember", "a %s stands in %s" % (WORD, SECRET), "--file", "src/%s.%s.c" % (WORD, SECRET))
    note = rem.json("remember", "--category", "convention", "Every %s needs a %s" % (WORD, SECRET))["ref"]
    notes = rem.scratch / "notes"
    notes.mkdir()
    (notes / ("%s.%s.md" % (WORD, SECRET))).write_text("---\ntitle: %s %s\n---\n# %s\n\n## On %s\n\nit is %s\n" % (WORD, SECRET, SECRET, WORD, SECRET))
    rem.run("sync", "add", notes, "--namespace", SECRET)
    wait_for(lambda: SECRET in json.dumps(rem.json("search", WORD)), "Ada to find her own")
    wait_for(lambda: [e for e in rem.json("entities", "--project", "all")["entities"] if SECRET in e["name"]], "her entities")
    return note, s


def calls(ref, session, rem):
    """Of every operation, the ways to ask for what is not one's own. What a new operation needs is added here; without that the test fails."""
    s, words = "s1", [WORD, "parser"]
    event = "e1"
    return {
        "search": [words, ['"%s parser"' % WORD], [SPELT], [WORD, "--scope", "all", "--project", "all"], [WORD, "--mode", "lexical"], [WORD, "--mode", "hybrid"],
                   *[[WORD, "--kind", k] for k in ("observation", "summary", "fact", "note", "chunk", "prompt", "reply", "tool")],
                   ["file:%s*" % WORD], [WORD, "--explain"], [WORD, "--scope", "sessions", "--project", "all"], ["why", "does", "it", "fail"]],
        "recall": [["why does the", WORD, "parser fail?"], ["--file", "%s.c" % WORD]],
        "context": [[]],
        "timeline": [[ref], [s], [event], ["--at", "now", "--project", "all"], ["--query", WORD]],
        "get": [[ref], [s], [event], *[[str(n)] for n in range(1, 12)], *[["e%d" % n] for n in range(1, 6)]],
        "facts": [[], [WORD], ["--project", "all"], ["--status", "pending", "--project", "all"], ["--as-of", "now", "--project", "all"]],
        "files": [["."], ["src"], [WORD + ".c"]], "blame": [["README.md"], ["HEAD"]],
        "entities": [[], ["--project", "all"], [WORD]], "sessions": [[], ["--project", "all"]], "projects": [[]], "why": [[s], []],
        "stats": [[], ["--project", "all"]], "status": [[]], "jobs": [[], ["--dead"], ["--project", "all"]], "cost": [[]], "review": [[], ["--rejected"]],
        "export": [["--project", "all"], ["--project", "all", "--format", "markdown"]], "doctor": [[], ["--deep"]], "config": [[]], "model": [["status"]],
        "sync": [["list"], ["run"], ["run", "--force"]], "backup": [[rem.scratch / "b.db"]],
        "store": [["copy", rem.env["REMANENCE_STORE"], "sqlite:%s/c.db" % rem.scratch]],
        # These change something; a colleague's is refused.
        "edit": [[ref, "mine now"]], "pin": [[ref]], "share": [[ref], [ref, "--private"]], "forget": [[ref, "--yes"], ["--session", s, "--yes"], ["--match", WORD, "--yes"]],
        "remember": [["Bob's own word"]], "pause": [["--for", "1m"]], "resume": [[]], "import": [[]], "reindex": [[]],
        "observer": [], "restore": [], "stop": [],
    }


def check(said, what):
    assert SECRET not in said.lower(), "%s tells what is private:\n%s" % (what, said[max(0, said.lower().index(SECRET) - 500):][:900])


def try_operations(team, ref, session):
    door = Door(team.bob)
    described = {p[len("/api/"):] for p in door.ask("GET", "/api/openapi.json").json["paths"] if p.startswith("/api/")}
    given = calls(ref, session, team.bob)
    assert set(given) == described, "an operation that this test does not try"
    for op, ways in given.items():
        for words in ways:
            for form in ([], ["--json"]):
                done = team.bob.run(*form, op, *words, check=False)
                check(done.out + done.err, (op, words))
    for file in (team.bob.scratch / "b.db", team.bob.scratch / "c.db"):
        assert SECRET.encode() not in file.read_bytes()
    for path, body in (("/api/search", {"query": WORD}), ("/search", {"query": WORD, "limit": 50, "threshold": 0}), ("/api/get", {"refs": [ref]}), ("/api/facts", {})):
        check(door.ask("POST", path, body).body.decode(), path)
    for path in ("/health", "/stats", "/api/openapi.json"):
        check(door.ask("GET", path).body.decode(), path)


def try_agents(team, ref):
    """What an agent of Bob's is given, by hooks and by MCP."""
    bob = team.bob
    s = ClaudeSession(bob, bob.repo)
    check(s.hook("SessionStart", source="startup"), "session start")
    check(s.prompt("why does the %s parser fail, and what is the %s called?" % (WORD, WORD)) or "", "prompt")
    for tool, given in (("Read", {"file_path": "%s/README.md" % bob.repo}), ("Edit", {"file_path": "%s/README.md" % bob.repo, "old_string": "a", "new_string": "b"}),
                        ("Bash", {"command": "make " + WORD})):
        check(s.hook("PreToolUse", tool_name=tool, tool_input=given, tool_use_id="toolu_1") or "", "before " + tool)
    check(s.hook("PostToolUseFailure", tool_name="Bash", tool_input={"command": "make " + WORD}, tool_use_id="toolu_2",
                 error="Exit code 2\n%s.c:12: error: unknown type name" % WORD, is_interrupt=False) or "", "a failure")
    lines = [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
             {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}]
    tools = {"search": {"query": WORD}, "timeline": {"ref": ref}, "get_observations": {"refs": [ref]}, "recall": {"question": "the %s parser" % WORD},
             "search_facts": {"query": WORD}, "entities": {}, "file_history": {"path": "."}}
    lines += [{"jsonrpc": "2.0", "id": 10 + i, "method": "tools/call", "params": {"name": n, "arguments": a}} for i, (n, a) in enumerate(tools.items())]
    out = bob.run("mcp", input="".join(json.dumps(x) + "\n" for x in lines), timeout=60).out
    assert out.count("\n") == len(lines)
    check(out, "mcp")


def try_files(team):
    """Nothing of it lies on Bob's disk."""
    team.bob.run("stop")
    for path in team.bob.scratch.rglob("*"):
        if path.is_file() and path.name not in ("b.db", "c.db"):
            data = path.read_bytes().lower()
            assert SECRET.encode() not in data, path
    team.bob.start()


def try_sql(team):
    """A login of one's own is a border for SQL that is typed by hand too, whatever author it claims to be."""
    tables = team.psql("SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'remanence'::regnamespace", role="postgres").split()
    mine = team.psql("SELECT id FROM remanence.author WHERE name = 'ada'").strip()
    assert len(tables) > 40
    for claim in ("", "SET remanence.author = '%s';" % mine):
        for table in tables:
            said = team.psql("%s SELECT coalesce(string_agg(t::text, ' '), '') FROM remanence.%s t" % (claim, table), role=team.logins["bob"], check=False)
            check(said, table)
        for table in ("session", "event", "turn", "memory", "dictionary", "job", "injection", "tombstone"):
            assert team.psql("%s SELECT count(*) FROM remanence.%s WHERE author = %s" % (claim, table, mine), role=team.logins["bob"]).split()[-1] == "0", table
    assert "row-level security" in team.psql("SET remanence.author = '%s'; INSERT INTO remanence.session (agent, agent_session, project, started_at, last_event_at, "
                                             "ended_at, is_headless, tokens_in, tokens_out, cache_read, cache_write) VALUES (1,'x',1,0,0,0,0,0,0,0,0)" % mine,
                                             role=team.logins["bob"], check=False)


def test_what_is_private_is_read_by_nobody_else_through_any_door(team):
    ref, session = plant(team.ada)
    team.bob.start()
    # Bob has work of his own in the same project.
    s = ClaudeSession(team.bob, team.bob.repo)
    s.prompt("Please look at the parser")
    s.reply("The parser is fine.")
    team.bob.drained()
    team.bob.run("import")
    wait_for(lambda: team.bob.json("search", "parser")["hits"], "Bob's own")
    assert team.bob.json("status")["authors"] >= 2
    try_operations(team, ref, session)
    try_agents(team, ref)
    try_files(team)
    if team.logins["bob"] != "postgres":
        try_sql(team)
    # And Ada has lost nothing by what Bob tried.
    assert SECRET in team.ada.run("get", ref).out
    assert SECRET in json.dumps(team.ada.json("search", WORD, "--scope", "all"))


def named(reply, ref, author):
    return [h for h in reply if h["ref"] == ref and h.get("author") == author]


def test_what_is_shared_is_there_with_its_author_until_it_is_taken_back(team):
    ada, bob = team.ada, team.bob
    ref, _ = plant(ada)
    bob.start()
    assert "the team's" in ada.run("share", ref).out
    wait_for(lambda: named(bob.json("search", WORD)["hits"], ref, "ada"), "the note in Bob's index")
    assert "by ada" in bob.run("search", WORD).out
    assert "by ada" in bob.run("recall", "what does every %s need?" % WORD).out
    assert "ada" in bob.run("get", ref).out
    record = bob.json("get", ref)["records"][0]
    assert (record["author"], record["own"], record["visibility"], record["evidence"], record["session"]) == ("ada", False, "team", [], None)
    assert "by ada" in bob.run("facts").out
    assert "[by ada]" in bob.run("context").out
    assert named(bob.json("timeline", ref)["items"], ref, "ada")
    assert "shared" in ada.run("get", ref).out
    s = ClaudeSession(bob, bob.repo)
    assert "[by ada]" in s.hook("SessionStart", source="startup")
    # Only this, and only to read.
    for words in (["edit", ref, "mine"], ["pin", ref], ["forget", ref, "--yes"], ["share", ref, "--private"], ["review", ref, "reject"]):
        done = bob.run(*words, check=False)
        assert done.status != 0 and "ada's" in done.err, (words, done.out, done.err)
    assert SECRET in bob.run("get", ref).out
    assert len(bob.json("search", WORD, "--scope", "all", "--project", "all")["hits"]) == 1
    ada.run("share", ref, "--private")
    wait_for(lambda: not bob.json("search", WORD)["hits"], "it to leave Bob's index")
    assert bob.run("get", ref, check=False).status != 0
    check(bob.run("context").out, "context")
    check(bob.run("search", SPELT).out, "did you mean")
    wait_for(lambda: all(WORD.encode() not in p.read_bytes().lower() for p in (bob.home / "index").rglob("*") if p.is_file()), "the segments to be rewritten")
    # Forgotten by its author, it leaves a colleague's disk as well.
    ada.run("share", ref)
    wait_for(lambda: bob.json("search", WORD)["hits"], "it once more")
    ada.run("forget", ref, "--yes")
    wait_for(lambda: not bob.json("search", WORD)["hits"], "it to be forgotten")
    wait_for(lambda: all(WORD.encode() not in p.read_bytes().lower() for p in (bob.home / "index").rglob("*") if p.is_file()), "the segments to be rewritten")


def test_a_project_is_shared_with_what_comes(team):
    ada, bob = team.ada, team.bob
    ada.start()
    first = ada.json("remember", "the first %s" % WORD)["ref"]
    out = ada.run("share", "--project").out
    assert "1 memory is the team's" in out and "shared when it is made" in out
    second = ada.json("remember", "the second %s" % WORD)["ref"]
    elsewhere = ada.make_repo(ada.scratch / "elsewhere")
    third = ada.json("remember", "the third %s" % WORD, cwd=elsewhere)["ref"]
    bob.start()
    wait_for(lambda: {h["ref"] for h in bob.json("search", WORD, "--project", "all")["hits"]} >= {first, second}, "both in Bob's index")
    assert bob.run("get", third, check=False).status != 0
    assert [p["visibility"] for p in ada.json("projects")["projects"] if p["memories"] == 2] == ["team"]
    assert "private" in {p["visibility"] for p in bob.json("projects")["projects"]}, "it is each one's own choice"
    mine = bob.json("remember", "Bob's %s" % WORD)["ref"]
    assert ada.run("get", mine, check=False).status != 0
    assert "shared" in ada.run("status").out
    ada.run("share", "--project", ".", "--private")
    wait_for(lambda: {h["ref"] for h in bob.json("search", WORD, "--project", "all")["hits"]} == {mine}, "Ada's to be gone")
    fourth = ada.json("remember", "the fourth %s" % WORD)["ref"]
    assert bob.run("get", fourth, check=False).status != 0


def test_what_a_review_approved_is_the_teams(team):
    ada, bob = team.ada, team.bob
    ada.start()
    ref = ada.json("remember", "a word on %s" % WORD)["ref"]
    assert "own" not in ada.run("review").out
    ada.run("review", ref, "approve")
    bob.start()
    wait_for(lambda: named(bob.json("search", WORD)["hits"], ref, "ada"), "what was approved")


def test_a_folders_sections_are_its_authors_or_the_teams(team):
    ada, bob = team.ada, team.bob
    ada.start()
    notes = ada.scratch / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# A\n\n## On %s\n\nit is there\n" % WORD)
    ada.run("sync", "add", notes, "--namespace", "notes")
    bob.start()
    assert "'notes'" in bob.run("search", "--namespace", "notes", WORD, check=False).err
    ada.run("sync", "add", notes, "--namespace", "notes", "--team")
    wait_for(lambda: bob.json("search", WORD, "--kind", "chunk")["hits"], "the section in Bob's index")
    assert bob.json("search", "--namespace", "notes", WORD)["hits"][0]["author"] == "ada"
    bob.run("sync", "run")
    assert bob.json("sync", "list")["folders"] == []
    assert bob.json("search", WORD, "--kind", "chunk")["hits"], "Bob's daemon does not look for a folder of Ada's machine"
    ada.run("sync", "add", notes, "--namespace", "notes", "--private")
    wait_for(lambda: not bob.json("search", WORD, "--kind", "chunk")["hits"], "the section to be gone")


def test_a_late_colleagues_history_is_read_as_far_back_as_their_own_daemon_is_old(team):
    """What agents did since the first start of this author's daemon is taken in by itself; the age of the store says nothing."""
    team.ada.start()
    team.bob.start()
    born = team.psql("SELECT count(*) FROM remanence.counter c JOIN remanence.author a ON a.id = c.author WHERE c.name = 'store.born_at' AND a.name IN ('ada', 'bob')")
    assert born.strip() == "2"


def test_another_login_cannot_take_a_name(team, build, scratch):
    if team.logins["bob"] == "postgres":
        pytest.skip("one login")
    team.ada.start()
    team.bob.env["REMANENCE_AUTHOR"] = "ada"
    done = team.bob.run("start", check=False)
    assert done.status != 0 and "another login" in done.out + done.err


def test_a_name_that_cannot_be_shown_is_nobodys(rem):
    rem.env["REMANENCE_AUTHOR"] = "a\tb"
    rem.run("start")
    settings = [c for c in rem.json("doctor", check=False)["checks"] if c["name"] == "settings"][0]
    assert not settings["ok"] and "control character" in settings["detail"]
    assert rem.json("status")["author"] != "a\tb"
    rem.run("stop")
    rem.env["REMANENCE_AUTHOR"] = "n" * 65
    rem.run("start")
    assert rem.json("status")["author"] != "n" * 65
