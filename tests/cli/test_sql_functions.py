"""The schema claude_memory on PostgreSQL: what other programs find there, by plain SQL."""
import json
import os
import pathlib
import subprocess
import urllib.parse
import uuid

import pytest

import model_server
from lib import Remanence, wait_for
from test_meaning import embedded, install, needs_model
from test_meaning_server import use

CACHE = pathlib.Path(os.environ.get("REMANENCE_TEST_CACHE", os.path.expanduser("~/.cache/remanence-tests")))
NOTES = {
    "network.md": "---\ntitle: Network\ntags: [dns]\n---\nHow the office is wired.\n\n## Split DNS\n\nThe inner zone is answered by the router.\n\n"
                  "## Tunnel\n\nWireguard listens on port 51820.\n",
    "kitchen.md": "## Bread\n\nFlour, water, salt and time.\n\n## Coffee\n\nEighteen grams, thirty seconds.\n",
    "print/second.md": "## Printer\n\nThe printer on the second floor is broken.\n",
}


class Database:
    def __init__(self, url):
        where = urllib.parse.parse_qs(urllib.parse.urlsplit(url).query)
        self.host, self.port = where["host"][0], where["port"][0]
        self.name = "db" + uuid.uuid4().hex[:10]
        self.psql("CREATE DATABASE %s" % self.name, "postgres")

    def psql(self, sql, database=None, role="postgres", check=True):
        program = next(CACHE.glob("postgres-*/*/pginstall/bin/psql"))
        done = subprocess.run([program, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", self.host, "-p", self.port, "-U", role,
                               "-d", database or self.name], input=sql, capture_output=True, text=True, timeout=60, check=False)
        assert not check or done.returncode == 0, done.stderr
        return done.stdout.strip() if done.returncode == 0 else done.stderr

    def rows(self, sql, **how):
        return json.loads(self.psql("SELECT coalesce(json_agg(t), '[]') FROM (%s) t" % sql, **how))

    def one(self, sql):
        return next(iter(self.rows(sql)[0].values()))

    def url(self, role="postgres"):
        return "postgres://%s@/%s?host=%s&port=%s" % (role, self.name, self.host, self.port)


@pytest.fixture
def db(postgres):
    d = Database(postgres)
    yield d
    d.psql("DROP DATABASE %s WITH (FORCE)" % d.name, "postgres")


@pytest.fixture
def rem(rem, db):
    rem.env.update(REMANENCE_STORE=db.url(), REMANENCE_EMBED_ASK_MS="5000")
    rem.notes = rem.scratch / "notes"
    for name, text in NOTES.items():
        (rem.notes / name).parent.mkdir(parents=True, exist_ok=True)
        (rem.notes / name).write_text(text)
    return rem


def follow(rem):
    rem.run("sync", "add", rem.notes, "--namespace", "notes", "--team")
    embedded(rem)


def filled(rem, db, chunks=6):
    """Waits until so many chunks are there with vectors."""
    wait_for(lambda: rem.json("status").get("sql", {}).get("on"), "the schema to be there")
    wait_for(lambda: db.one("SELECT count(*) FROM claude_memory.chunks WHERE embedding IS NOT NULL") == chunks ==
             db.one("SELECT count(*) FROM claude_memory.chunks"), "%d chunks with vectors" % chunks)


def ask(db, text, more="", dims=model_server.DIMS):
    return db.rows("SELECT * FROM claude_memory.search('%s'%s)" % (model_server.embed(text, dims), more))


def post_search(rem, query, **more):
    return rem.http("/search", {"query": query, **more})


def sql_line(rem):
    return [c for c in rem.json("doctor", check=False)["checks"] if c["name"] == "sql"]


@needs_model
def test_the_builtin_vectors_are_searched_from_sql(rem, db):
    install(rem)
    follow(rem)
    filled(rem, db)
    assert db.rows("SELECT total_chunks, total_files, last_sync > now() - interval '1 hour' AS is_new FROM claude_memory.stats()") == \
        [{"total_chunks": 6, "total_files": 3, "is_new": True}]
    own = "(SELECT embedding FROM claude_memory.chunks WHERE section = 'Bread')"
    found = db.rows("SELECT * FROM claude_memory.search(%s, match_threshold => -1, match_count => 3)" % own)
    assert len(found) == 3 and found[0]["similarity"] == pytest.approx(1, abs=1e-3) and found[0]["similarity"] > found[1]["similarity"]
    assert {k: v for k, v in found[0].items() if k not in ("id", "similarity")} == {
        "content": "Flour, water, salt and time.", "namespace": "notes", "file_source": "kitchen.md", "section": "Bread"}
    assert db.one("SELECT vector_dims(embedding) FROM claude_memory.chunks LIMIT 1") == 512
    wait_for(lambda: db.one("SELECT to_regclass('claude_memory.chunks_embedding') IS NOT NULL"), "the index over vectors")
    assert post_search(rem, "ingredients of a loaf", threshold=0)[0]["section"] == "Bread"
    assert "vectors of 512 numbers" in " ".join(rem.run("status").out.split()) and sql_line(rem)[0]["ok"]


def test_what_an_author_takes_back_leaves_the_schema_with_it(rem, db, server):
    rem.start()
    use(rem, server, "openai", "ok")
    follow(rem)
    filled(rem, db)
    rem.run("sync", "add", rem.notes, "--namespace", "notes", "--private")
    assert db.one("SELECT count(*) FROM claude_memory.chunks") == 0 and ask(db, "wireguard port", ", -1") == []
    assert db.rows("SELECT total_chunks, total_files FROM claude_memory.stats()") == [{"total_chunks": 0, "total_files": 0}]
    assert rem.json("search", "wireguard", "--kind", "chunk")["hits"], "they are still their author's"
    rem.run("sync", "add", rem.notes, "--namespace", "notes", "--team")
    filled(rem, db)


def test_search_gives_what_post_search_gives(rem, db, server):
    rem.start()
    use(rem, server, "openai", "ok")
    follow(rem)
    filled(rem, db)
    for question, section in (("wireguard port", "Tunnel"), ("flour and water", "Bread"), ("the printer is broken", "Printer")):
        found = ask(db, question, ", 0.2")
        answer = post_search(rem, question, threshold=0)
        assert found[0]["section"] == answer[0]["section"] == section
        assert all(found[0][k] == answer[0][k] for k in ("content", "namespace", "file_source"))
        assert [f["similarity"] for f in found] == sorted((f["similarity"] for f in found), reverse=True)
    assert ask(db, "wireguard port", ", 0.2, 5, 'other'") == [] and ask(db, "wireguard port", ", 0.2, 5, 'notes'")
    assert len(ask(db, "wireguard port", ", -1, 2")) == 2 and ask(db, "wireguard port", ", -1, 0") == []
    assert ask(db, "wireguard port", ", 0.99") == []
    wait_for(lambda: db.one("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'") == 0,
             "nobody to sit in a transaction")
    row = db.rows("SELECT * FROM claude_memory.chunks WHERE section = 'Split DNS'")[0]
    assert row["metadata"] == {"title": "Network", "tags": ["dns"]} and row["chunk_index"] == 0 and row["checksum"]
    file = db.rows("SELECT * FROM claude_memory.files WHERE file_name = 'network.md'")[0]
    assert (file["namespace"], file["chunks_count"], file["checksum"]) == ("notes", 3, row["checksum"])


def test_edits_renames_and_removals_follow_and_rows_keep_their_ids(rem, db, server):
    rem.start()
    use(rem, server, "openai", "ok")
    follow(rem)
    filled(rem, db)
    before = {r["section"]: r["id"] for r in db.rows("SELECT section, id FROM claude_memory.chunks")}
    (rem.notes / "kitchen.md").write_text(NOTES["kitchen.md"].replace("salt", "seawater"))
    (rem.notes / "print" / "second.md").rename(rem.notes / "printer.md")
    rem.run("sync", "run")
    wait_for(lambda: db.one("SELECT count(*) FROM claude_memory.chunks WHERE content LIKE '%seawater%' AND embedding IS NOT NULL"), "the edit")
    wait_for(lambda: db.one("SELECT count(*) FROM claude_memory.files WHERE file_name = 'printer.md'"), "the rename")
    assert {r["section"]: r["id"] for r in db.rows("SELECT section, id FROM claude_memory.chunks")} == before
    assert ask(db, "seawater", ", 0.1")[0]["section"] == "Bread"
    (rem.notes / "network.md").unlink()
    rem.run("sync", "run")
    assert db.one("SELECT count(*) FROM claude_memory.chunks WHERE file_source = 'network.md'") == 0, "they go with the store's rows"
    assert db.rows("SELECT file_name FROM claude_memory.files ORDER BY 1") == [{"file_name": "kitchen.md"}, {"file_name": "printer.md"}]
    rem.run("sync", "remove", "notes")
    assert db.rows("SELECT * FROM claude_memory.stats()") == [{"total_chunks": 0, "total_files": 0, "last_sync": None}]


def test_other_vectors_take_the_place_of_the_old(rem, db, server):
    rem.start()
    use(rem, server, "openai", "ok")
    follow(rem)
    filled(rem, db)
    wait_for(lambda: db.one("SELECT to_regclass('claude_memory.chunks_embedding') IS NOT NULL"), "the index over vectors")
    server.state["dims"] = 96
    rem.run("config", "set", "embed.model", "scripted-2")
    wait_for(lambda: rem.json("status")["sql"].get("dimension") == 96, "the column to be made anew")
    filled(rem, db)
    assert ask(db, "flour and water", ", 0.2", 96)[0]["section"] == "Bread"
    wait_for(lambda: db.one("SELECT to_regclass('claude_memory.chunks_embedding') IS NOT NULL"), "the index over vectors")


def test_searches_are_recorded_as_the_setting_says_and_forgotten(rem, db, server):
    rem.start()
    use(rem, server, "openai", "ok")
    follow(rem)
    filled(rem, db)

    def logged(n):
        sql = "SELECT query, namespace, results_count > 0 AS found FROM claude_memory.search_logs ORDER BY created_at"

        def look():
            rem.knock()  # the daemon notes searches together, when it sweeps
            found = db.rows(sql)
            return len(found) == n and found
        return wait_for(look, "%d searches" % n)
    post_search(rem, "wireguard", threshold=0)
    assert logged(1) == [{"query": "", "namespace": None, "found": True}]
    rem.run("config", "set", "search.log", "text")
    post_search(rem, "flour", threshold=0, namespace="notes")
    assert logged(2)[1] == {"query": "flour", "namespace": "notes", "found": True}
    rem.run("config", "set", "search.log", "off")
    rem.run("forget", "--match", "inner zone", "--yes")
    assert [r["query"] for r in logged(2)] == ["", ""]
    assert db.one("SELECT count(*) FROM claude_memory.chunks WHERE content LIKE '%inner zone%'") == 0


def test_a_reader_may_search_and_no_more(rem, db, server):
    rem.start()
    use(rem, server, "openai", "ok")
    follow(rem)
    filled(rem, db)
    role = "reader_" + db.name
    db.psql("CREATE ROLE %s LOGIN; GRANT USAGE ON SCHEMA claude_memory TO %s; GRANT SELECT ON claude_memory.chunks, claude_memory.files TO %s"
            % (role, role, role))
    try:
        found = db.rows("SELECT * FROM claude_memory.search('%s', 0.2)" % model_server.embed("flour and water", model_server.DIMS), role=role)
        assert found[0]["section"] == "Bread"
        assert db.rows("SELECT total_files FROM claude_memory.stats()", role=role) == [{"total_files": 3}]
        for refused in ("SELECT * FROM claude_memory.search_logs", "DELETE FROM claude_memory.chunks", "SELECT * FROM remanence.memory"):
            assert "permission denied" in db.psql(refused, role=role, check=False)
    finally:
        db.psql("DROP OWNED BY %s; DROP ROLE %s" % (role, role))


def test_without_the_extension_all_else_works_and_status_says_why(rem, db, server):
    role = "poor_" + db.name
    db.psql("CREATE ROLE %s LOGIN; CREATE SCHEMA remanence AUTHORIZATION %s; REVOKE CREATE ON SCHEMA public FROM PUBLIC" % (role, role))
    try:
        rem.env["REMANENCE_STORE"] = db.url(role)
        rem.start()
        use(rem, server, "openai", "ok")
        follow(rem)
        wait_for(lambda: rem.json("status").get("sql", {}).get("why"), "the reason")
        said = rem.run("status").out
        assert "the extension vector is not in the database" in " ".join(said.split()) and "CREATE EXTENSION vector" in said
        assert "SQL functions are off" in sql_line(rem)[0]["detail"]
        assert post_search(rem, "flour", threshold=0)[0]["section"] == "Bread"
        db.psql("CREATE EXTENSION vector")
        rem.run("remember", "a commit is enough for another look")
        wait_for(lambda: "may not make the schema" in (rem.json("status")["sql"]["why"] or ""), "the next reason")
        db.psql("GRANT CREATE ON DATABASE %s TO %s" % (db.name, role))
        rem.run("remember", "and another one")
        filled(rem, db)
        rem.run("stop")
    finally:
        db.psql("DROP SCHEMA IF EXISTS claude_memory CASCADE; DROP OWNED BY %s; DROP ROLE %s" % (role, role))


def test_a_schema_that_another_program_made_stays_as_it_is(rem, db, server):
    db.psql("CREATE SCHEMA claude_memory; CREATE TABLE claude_memory.chunks (id int, content text); INSERT INTO claude_memory.chunks VALUES (1, 'mine')")
    rem.start()
    use(rem, server, "openai", "ok")
    follow(rem)
    wait_for(lambda: "another program made" in (rem.json("status").get("sql", {}).get("why") or ""), "the reason")
    rem.run("forget", "--match", "wireguard", "--yes")
    assert db.rows("SELECT * FROM claude_memory.chunks") == [{"id": 1, "content": "mine"}]
    db.psql("ALTER SCHEMA claude_memory RENAME TO claude_memory_before")
    rem.run("remember", "a commit is enough for another look")
    filled(rem, db, 5)


def test_the_daemon_of_another_embedder_leaves_the_vectors_alone(rem, db, server, build, scratch):
    rem.start()
    use(rem, server, "openai", "ok")
    follow(rem)
    filled(rem, db)
    (scratch / "two").mkdir()
    other = Remanence(build, scratch / "two")
    other.env.update(REMANENCE_STORE=db.url(), REMANENCE_EMBED_ASK_MS="5000")
    try:
        other.start()
        use(other, server, "openai", "ok", "scripted-2")
        wait_for(lambda: "another daemon fills them" in (other.json("status").get("sql", {}).get("why") or ""), "the reason")
        use(other, server, "openai", "ok")
        embedded(other)
        other.run("remember", "a commit is enough for another look")
        wait_for(lambda: other.json("status")["sql"]["on"], "the same vectors to be shared")
        filled(rem, db)
        assert db.one("SELECT count(*) FROM claude_memory.keeper") == 1
    finally:
        other.close()


def test_a_store_without_folders_makes_nothing(rem, db):
    rem.start()
    rem.run("remember", "the parser strips trailing white space")
    assert "sql" not in rem.json("status")
    assert db.one("SELECT count(*) FROM pg_namespace WHERE nspname = 'claude_memory'") == 0
