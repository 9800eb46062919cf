"""Markdown folders: followed, searched, and brought up to date whatever editors and git do to them."""
import json
import os
import pathlib
import subprocess

import pytest

from lib import wait_for
from test_meaning import install, needs_model

SECTIONS = pathlib.Path(__file__).parent.parent / "data" / "sections" / "pairs.jsonl"

NETWORK = """---
title: Réseau
tags: [dns, réseau]
date: 2026-03-01
type: reference
---
# Réseau

## Split DNS

Le résolveur interne répond pour la zone privée.

## VPN

WireGuard écoute sur le port 51820.
"""


@pytest.fixture
def notes(rem):
    folder = rem.scratch / "notes"
    folder.mkdir()
    rem.notes = folder
    (folder / "network.md").write_text(NETWORK)
    return folder


def add(rem, *more):
    return rem.json("sync", "add", rem.notes, "--namespace", "notes", *more)


def hits(rem, *words, **how):
    return rem.json("search", "--kind", "chunk", "--mode", "lexical", *words, **how)["hits"]


def places(rem, *words):
    return sorted((h["namespace"], h["file_source"]) for h in hits(rem, *words))


def folder(rem, namespace="notes"):
    return [f for f in rem.json("sync", "list")["folders"] if f["namespace"] == namespace][0]


def test_a_folder_is_searchable_when_add_returns(rem, notes):
    result = add(rem)
    assert (result["files"], result["synced"], result["skipped"], result["removed"], result["failed"]) == (1, 1, 0, 0, [])
    assert result["chunks"] == 3
    hit = hits(rem, "wireguard")[0]
    assert hit["kind"] == "chunk" and hit["namespace"] == "notes" and hit["section"] == "VPN"
    record = rem.json("get", hit["ref"])["records"][0]
    assert (record["file"], record["section"], record["line"], record["position"]) == (str(notes / "network.md"), "VPN", 13, 2)
    assert record["metadata"] == {"title": "Réseau", "date": "2026-03-01", "type": "reference", "tags": ["dns", "réseau"]}
    refused = rem.run("edit", hit["ref"], "another text", check=False)
    assert refused.status == 2 and "follows it" in refused.err
    assert hit["files"] == [str(notes / "network.md")] and (hit["line"], hit["end_line"]) == (13, 15)
    listed = folder(rem)
    assert (listed["files"], listed["chunks"], listed["errors"]) == (1, 3, 0) and listed["last_sync"] > 0
    assert ":13" in rem.run("search", "wireguard", "--kind", "chunk").out


def test_an_edit_is_searchable_within_a_second(rem, notes):
    add(rem)
    path = notes / "network.md"
    for i in range(3):
        with path.open("a") as f:
            f.write("\n## Extra %d\n\nquokka%d lives here\n" % (i, i))
        wait_for(lambda: hits(rem, "quokka%d" % i), "the edit to be found")
    before = {h["ref"] for h in hits(rem, "wireguard")}
    path.write_text(path.read_text().replace("zone privée", "zone intérieure"))
    wait_for(lambda: hits(rem, "intérieure"), "the changed section")
    assert {h["ref"] for h in hits(rem, "wireguard")} == before  # what stays keeps its row


def test_checksums_decide_and_force_reads_anew(rem, notes):
    add(rem)
    os.utime(notes / "network.md", (1, 1))
    result = rem.json("sync", "run")
    assert (result["synced"], result["skipped"], result["chunks"]) == (0, 1, 3)
    result = rem.json("sync", "run", "--force", "notes")
    assert (result["synced"], result["skipped"], result["new_chunks"]) == (1, 0, 0)
    out = rem.run("sync", "run").out
    assert "[SKIP] network.md" in out and "0 of 1 file synced, 1 skipped" in out
    out = rem.run("sync", "run", "--force").out
    assert "[SYNC] network.md → 3 chunks" in out


def test_a_rename_keeps_its_chunks_and_a_removed_file_goes(rem, notes):
    add(rem)
    refs = {h["ref"] for h in hits(rem, "wireguard OR dns")}
    (notes / "net").mkdir()
    (notes / "network.md").rename(notes / "net" / "réseau.md")
    wait_for(lambda: places(rem, "wireguard") == [("notes", "net/réseau.md")], "the move to be seen")
    assert {h["ref"] for h in hits(rem, "wireguard OR dns")} == refs
    (notes / "net" / "réseau.md").unlink()
    wait_for(lambda: not hits(rem, "wireguard"), "the file to go")
    assert folder(rem)["files"] == 0


def test_files_of_one_name_in_two_folders_and_namespaces_stay_apart(rem, notes):
    other = rem.scratch / "other"
    for place in (notes / "a", notes / "b", other):
        place.mkdir()
        (place / "state.md").write_text("## State\n\nThe walrus of %s.\n" % place.name)
    add(rem)
    rem.run("sync", "add", other, "--namespace", "other")
    assert places(rem, "walrus") == [("notes", "a/state.md"), ("notes", "b/state.md"), ("other", "state.md")]
    assert [h["namespace"] for h in hits(rem, "--namespace", "other", "walrus")] == ["other"]
    assert [h["namespace"] for h in hits(rem, "namespace:other walrus")] == ["other"]
    rem.run("sync", "remove", "other")
    assert places(rem, "walrus") == [("notes", "a/state.md"), ("notes", "b/state.md")]
    assert other.joinpath("state.md").exists()


def test_front_matter_filters(rem, notes):
    (notes / "other.md").write_text("---\ntags:\n  - deploy\n---\n## VPN\n\nNothing about it, wireguard.\n")
    (notes / "bare.md").write_text("---\ntitle: Escalation\ncontact: pangolin team\n---\n")
    add(rem)
    assert [h["file_source"] for h in hits(rem, "--tag", "DNS", "wireguard")] == ["network.md"]
    assert [h["file_source"] for h in hits(rem, "tag:deploy wireguard")] == ["other.md"]
    assert [h["file_source"] for h in hits(rem, "wireguard", "--before", "2026-03-02")] == ["network.md"]
    assert [h["file_source"] for h in hits(rem, "pangolin")] == ["bare.md"]
    assert hits(rem, "reference")[0]["file_source"] == "network.md"  # every other scalar is found with the first chunk


def test_ignored_and_hidden_files_are_left_out(rem, notes):
    files = {"keep.md": 1, "drafts/a.md": 0, "x.tmp.md": 0, "deep/x.tmp.md": 0, "deep/keep.tmp.md": 1, ".hidden/a.md": 0, ".a.md": 0,
             "deep/local/b.md": 0, "build/c.md": 0, "deep/build/c.md": 1, "text.txt": 0, "a.md~": 0, "#a.md#": 0}
    for name in files:
        (notes / name).parent.mkdir(parents=True, exist_ok=True)
        (notes / name).write_text("the axolotl\n")
    (notes / ".gitignore").write_text("drafts/\n*.tmp.md\n/build\n")
    (notes / "deep" / ".gitignore").write_text("!keep.tmp.md\nlocal\n")
    add(rem)
    assert [p for _, p in places(rem, "axolotl")] == sorted(n for n, wanted in files.items() if wanted)
    (notes / ".gitignore").write_text("")
    wait_for(lambda: "drafts/a.md" in [p for _, p in places(rem, "axolotl")], "the change of .gitignore to be seen")


def test_the_repository_above_says_what_is_ignored_too(rem, notes):
    rem.make_repo(rem.scratch / "repo", {".gitignore": "private/\n", "docs/private/x.md": "axolotl\n", "docs/public.md": "axolotl\n"})
    rem.run("sync", "add", rem.scratch / "repo" / "docs", "--namespace", "docs")
    assert places(rem, "axolotl") == [("docs", "public.md")]


def test_globs_choose_files(rem, notes):
    for name in ("guide/a.md", "guide/deep/b.md", "guide/deep/c.txt", "top.md"):
        (notes / name).parent.mkdir(parents=True, exist_ok=True)
        (notes / name).write_text("the axolotl\n")
    add(rem, "--glob", "/guide/**", "--glob", "!c.txt")
    assert [p for _, p in places(rem, "axolotl")] == ["guide/a.md", "guide/deep/b.md"]
    add(rem, "--glob", "*.md", "--glob", "*.txt", "--glob", "!guide/deep/**")
    assert [p for _, p in places(rem, "axolotl")] == ["guide/a.md", "top.md"]


def test_odd_files_are_named_or_read_as_well_as_can_be(rem, notes):
    (notes / "empty.md").write_text("")
    (notes / "bad.md").write_bytes(b"## Bytes\n\nan axolotl \xff\xfe\x00 here\n")
    (notes / "bom.md").write_bytes(b"\xef\xbb\xbf---\ntitle: B\n---\n## Sec\r\n\r\ncapybara\r\n")
    (notes / "big.md").write_bytes(b"a" * 50_000_000)
    os.mkfifo(notes / "pipe.md")
    (notes / "loop").symlink_to("..")
    (notes / "self").symlink_to("self")
    (notes / "gone.md").symlink_to("nowhere")
    with open(os.fsencode(notes) + b"/caf\xe9.md", "w") as f:
        f.write("latin\n")
    closed = notes / "closed.md"
    closed.write_text("secret otter\n")
    closed.chmod(0)
    result = add(rem)
    failed = {f["path"]: f["reason"] for f in result["failed"]}
    assert "47 MB" in failed["big.md"] and "8 MB" in failed["big.md"] and "regular file" in failed["pipe.md"] and "not UTF-8" in failed["caf\ufffd.md"]
    if os.geteuid():
        assert "permissions" in failed["closed.md"]
    assert hits(rem, "axolotl")[0]["snippet"].count("\ufffd") == 3
    assert hits(rem, "capybara")[0]["section"] == "Sec"
    assert folder(rem)["errors"] == len(failed)
    (notes / "big.md").write_text("now small, a dugong\n")
    wait_for(lambda: hits(rem, "dugong"), "the file that is small now")
    assert "big.md" not in [f["path"] for f in folder(rem)["failed"]]


def test_saving_as_editors_do_leaves_no_trace(rem, notes):
    add(rem)
    path, ref = notes / "network.md", hits(rem, "wireguard")[0]["ref"]
    swap = notes / ".network.md.swp"
    swap.write_text("x")
    (notes / "4913").write_text("")
    (notes / "4913").unlink()
    path.rename(notes / "network.md~")  # vim: the old one aside, the new one in its place
    path.write_text(NETWORK + "\n## One\n\nokapi\n")
    swap.unlink()
    wait_for(lambda: hits(rem, "okapi"), "what vim saved")
    new = notes / ".network.md.tmp"  # others: beside, then renamed over it
    new.write_text(NETWORK + "\n## Two\n\nnumbat\n")
    new.rename(path)
    wait_for(lambda: hits(rem, "numbat"), "what was renamed into place")
    assert not hits(rem, "okapi") and hits(rem, "wireguard")[0]["ref"] == ref
    path.write_text("")  # truncated, and filled a moment later
    with path.open("w") as f:
        for line in NETWORK.splitlines(True):
            f.write(line)
            f.flush()
        f.write("\n## Three\n\nkakapo\n")
    wait_for(lambda: hits(rem, "kakapo"), "what was written in pieces")
    assert hits(rem, "wireguard")[0]["ref"] == ref
    assert [r[0] for r in rem.sql("SELECT path FROM source_file")] == ["network.md"]


def test_a_folder_that_is_away_keeps_its_chunks(rem, notes):
    add(rem)
    away = rem.scratch / "away"
    notes.rename(away)
    result = rem.run("sync", "run", "notes", check=False)
    assert result.status != 0 and str(notes) in result.err
    assert hits(rem, "wireguard") and "No such file" in folder(rem)["error"]
    away.rename(notes)
    assert rem.json("sync", "run", "notes")["skipped"] == 1
    assert folder(rem)["error"] is None


def test_a_checkout_of_another_branch_is_followed(rem, notes):
    repo = rem.make_repo(rem.scratch / "repo", {"docs/%02d.md" % i: "## Page %d\n\nmain%d stays\n" % (i, i) for i in range(40)})
    rem.git(repo, "checkout", "-q", "-b", "other")
    for i in range(0, 40, 2):
        (repo / "docs" / ("%02d.md" % i)).write_text("## Page %d\n\nother%d came\n" % (i, i))
    rem.git(repo, "rm", "-q", "docs/39.md")
    rem.git(repo, "commit", "-qam", "other")
    rem.git(repo, "checkout", "-q", "main")
    rem.run("sync", "add", repo / "docs", "--namespace", "docs")
    assert folder(rem, "docs")["chunks"] == 40
    rem.git(repo, "checkout", "-q", "other")
    wait_for(lambda: hits(rem, '"other38"') and folder(rem, "docs")["files"] == 39, "the other branch")
    assert not hits(rem, '"main38"')
    rem.git(repo, "checkout", "-q", "main")
    wait_for(lambda: hits(rem, '"main38"') and folder(rem, "docs")["files"] == 40, "the first branch again")


def test_edits_made_while_no_daemon_ran_are_read_at_its_start(rem, notes):
    add(rem)
    rem.run("stop")
    (notes / "network.md").write_text("## New\n\nthe gharial\n")
    (notes / "later.md").write_text("## Later\n\nthe mudskipper\n")
    rem.start()
    wait_for(lambda: hits(rem, "gharial") and hits(rem, "mudskipper"), "the edits")
    assert not hits(rem, "wireguard")


def test_a_daemon_that_is_killed_leaves_whole_files_only(rem, notes):
    for i in range(300):
        (notes / ("%03d.md" % i)).write_text("".join("## S%d\n\nword%d of %d\n" % (k, k, i) for k in range(5)))
    run = subprocess.Popen([str(rem.client), "sync", "add", str(notes), "--namespace", "notes"], env=rem.env, cwd=rem.scratch,
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    for _ in range(20):
        run.stdout.readline()
    rem.kill()
    run.stdout.read()
    run.wait(60)
    rem.json("sync", "run")
    assert rem.json("sync", "list")["folders"][0]["files"] == 301
    assert set(rem.sql("SELECT count(*) FROM chunk c JOIN source_file f ON f.id = c.source_file WHERE f.path <> 'network.md' "
                       "GROUP BY f.id")) == {(5,)}
    assert rem.sql("SELECT count(*) FROM memory WHERE kind = 5") == rem.sql("SELECT count(*) FROM chunk")


def test_secrets_and_private_parts_reach_neither_store_nor_search(rem, notes):
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    (notes / "keys.md").write_text("## Keys\n\nThe tapir token is %s\n\n<private>hippogriff\nlair</private>\n\nAfter it.\n" % key)
    add(rem)
    assert "[redacted" in rem.run("search", "tapir", "--kind", "chunk").out
    assert not hits(rem, "hippogriff") and hits(rem, "tapir")[0]["end_line"] == 8
    for path in rem.home.rglob("*"):
        if path.is_file():
            assert key.encode() not in path.read_bytes() and b"hippogriff" not in path.read_bytes(), path


def test_a_chunk_that_was_forgotten_stays_away(rem, notes):
    add(rem)
    rem.run("forget", hits(rem, "wireguard")[0]["ref"])
    assert not hits(rem, "wireguard")
    rem.run("sync", "run", "--force")
    assert not hits(rem, "wireguard") and hits(rem, "zone")


def test_chunks_are_recalled_but_are_no_part_of_a_session_start_or_of_a_timeline(rem, notes):
    rem.make_repo()
    rem.run("remember", "the staging database is read-only on Fridays")
    add(rem)
    assert "51820" in rem.run("recall", "which port has wireguard").out
    context = rem.json("context")
    assert "WireGuard" not in context["text"] and "VPN" not in context["text"]
    assert [i["kind"] for i in rem.json("timeline", "--at", "now")["items"]] == ["note"]


def test_a_folder_of_one_project_is_not_found_from_another(rem, notes):
    for name in ("one", "two"):
        repo = rem.make_repo(rem.scratch / name)
        rem.run("remember", "a note in %s" % name, cwd=repo)
    add(rem, "--project", "one")
    assert hits(rem, "wireguard", cwd=rem.scratch / "one") and not hits(rem, "wireguard", cwd=rem.scratch / "two")
    assert hits(rem, "--namespace", "notes", "wireguard", cwd=rem.scratch / "two")


def test_ready_made_folders_are_found_and_never_written(rem):
    repo = rem.make_repo(rem.scratch / "app", {"CLAUDE.md": "## Rules\n\nAlways run the platypus linter.\n", "AGENTS.md": "Use capybara.\n",
                                              "docs/CLAUDE.md": "not this narwhal\n"})
    rem.run("remember", "a note", cwd=repo)
    slug = "".join(c if c.isalnum() else "-" for c in str(repo))
    memory = rem.user_home / ".claude" / "projects" / slug / "memory"
    memory.mkdir(parents=True)
    (memory / "MEMORY.md").write_text("- [Deploy](deploy.md)\n")
    (memory / "deploy.md").write_text("---\nname: deploy\ndescription: how to ship\n---\nShip with the pelican script.\n")
    (rem.user_home / ".claude" / "CLAUDE.md").write_text("I like short wombat answers.\n")
    before = {p: (p.stat().st_mtime_ns, p.read_bytes()) for p in [*rem.user_home.rglob("*.md"), *repo.rglob("*.md")]}
    assert rem.run("sync", "add", "--ready", cwd=repo).out.count("3 further folders are followed now.") == 1
    names = {f["namespace"]: f["project"] for f in rem.json("sync", "list")["folders"]}
    assert names == {"claude-memory/app": "app", "instructions/app": "app", "instructions/user-claude": None}
    for word in ("platypus", "capybara", "pelican", "wombat"):
        assert hits(rem, word, cwd=repo), word
    assert not hits(rem, "narwhal", cwd=repo)
    assert "No further CLAUDE.md" in rem.run("sync", "add", "--ready", cwd=repo).out
    assert len(rem.json("sync", "list")["folders"]) == 3
    second = rem.make_repo(rem.scratch / "second", {"AGENTS.md": "Feed the cassowary.\n"})
    rem.run("remember", "another note", cwd=second)
    rem.run("stop")
    rem.start()
    wait_for(lambda: hits(rem, "cassowary", cwd=second), "the instructions of a project that came later")
    assert not hits(rem, "cassowary", cwd=repo)
    rem.run("sync", "remove", "instructions/app")
    assert not hits(rem, "platypus", cwd=repo)
    assert before == {p: (p.stat().st_mtime_ns, p.read_bytes()) for p in before}
    assert set(rem.user_home.rglob("*.md")) | set(repo.rglob("*.md")) == set(before)


def test_wrong_words_are_answered_with_the_right_ones(rem, notes):
    add(rem)
    for words, status, said in ((("add", notes), 2, "--namespace"), (("add", notes / "nowhere", "--namespace", "x"), 4, "no folder"),
                                (("add", rem.scratch, "--namespace", "notes"), 2, "is that of"), (("run", "nope"), 4, "notes"),
                                (("add", notes, "--namespace", "two words"), 2, "one word"), (("remove",), 2, "which namespace"),
                                (("remove", "nope"), 4, "no namespace 'nope'"), (("add", notes, "--namespace", "n" * 101), 2, "100 bytes")):
        result = rem.run("sync", *words, check=False)
        assert result.status == status and said in result.err, (words, result.err)
    result = rem.run("search", "--namespace", "nope", "x", check=False)
    assert result.status == 4 and "no namespace 'nope'" in result.err


def test_progress_is_lines_of_json_and_the_last_one_the_result(rem, notes):
    lines = [json.loads(line) for line in rem.run("--json", "sync", "add", notes, "--namespace", "notes").out.splitlines()]
    assert lines[0]["progress"] == {"files_done": 1, "files_total": 1, "what": "sync", "namespace": "notes", "path": "network.md", "chunks": 3}
    assert lines[-1]["synced"] == 1 and len(lines) == 2


def test_the_size_of_chunks_is_a_setting(rem, notes):
    (notes / "long.md").write_text("## Long\n\n" + "One sentence of the emu text. " * 100)
    add(rem)
    before = folder(rem)["chunks"]
    rem.run("config", "set", "chunk.chars", "2000")
    rem.run("sync", "run", "--force")
    assert folder(rem)["chunks"] < before


def test_a_daemon_in_the_foreground_follows_memory_dir(rem, notes):
    env = {**rem.env, "MEMORY_DIR": str(notes), "CHUNK_SIZE": "200"}
    daemon = subprocess.Popen([str(rem.daemon), "--foreground"], env=env, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: rem.pid() == daemon.pid and hits(rem, "wireguard"), "the folder to be read")
        assert folder(rem, "default")["root"] == str(notes)
        assert rem.json("config", "get", "chunk.chars", env={"CHUNK_SIZE": "200"})["value"] in (200, "200")
    finally:
        daemon.terminate()
        daemon.wait(60)


def test_the_search_log_keeps_what_is_wished_and_forgets_words(rem, notes):
    add(rem)

    def logged():
        rem.run("stop")
        found = rem.sql("SELECT results, query FROM search_log ORDER BY id")
        rem.start()
        return found
    hits(rem, "wireguard")
    assert logged() == [(1, None)]
    rem.run("config", "set", "search.log", "text")
    hits(rem, "wireguard")
    assert logged()[-1] == (1, "wireguard")
    rem.run("config", "set", "search.log", "off")
    hits(rem, "wireguard")
    assert len(logged()) == 2
    rem.run("forget", hits(rem, "zone")[0]["ref"])
    assert [q for _, q in logged()] == [None, None]


def test_the_three_routes_answer_from_chunks(rem, notes):
    add(rem)
    def ask(path, body=None):
        return asked(rem, path, body)
    stats = ask("/stats")
    assert (stats["total_chunks"], stats["total_files"]) == (3, 1) and stats["last_sync"].endswith("Z")
    best = ask("/search", {"query": "port wireguard"})[0]
    assert best == {"content": "WireGuard écoute sur le port 51820.", "namespace": "notes", "file_source": "network.md", "section": "VPN",
                    "similarity": best["similarity"]} and best["similarity"] >= .7
    assert ask("/search", {"query": "port wireguard", "namespace": "notes", "limit": 1, "threshold": 0})
    assert "no namespace 'x'" in json.dumps(ask("/search", {"query": "a", "namespace": "x"}))


def asked(rem, path, body=None):
    port = rem.json("status")["http"].rpartition(":")[2]
    token = (rem.home / "run" / "token").read_text().strip()
    out = subprocess.run(["curl", "-s", "-H", "Authorization: Bearer " + token, *(["-d", json.dumps(body)] if body else []),
                          "http://127.0.0.1:%s%s" % (port, path)], capture_output=True, text=True, check=True).stdout
    return json.loads(out)


def embedded(rem):
    wait_for(lambda: rem.json("stats")["jobs"]["embed"] == 0, "everything to be embedded")
    return rem.json("status")["embedder"]["made"]


@needs_model
def test_sections_are_found_by_questions_without_a_common_word_and_the_usual_threshold_tells_them_apart(rem):
    pairs = [json.loads(line) for line in SECTIONS.read_text().splitlines()]
    install(rem)
    topics = {(p["language"], p["section"]): p["topic"] for p in pairs}
    for language in ("fr", "en"):
        (rem.scratch / language).mkdir()
        (rem.scratch / language / "all.md").write_text("".join("## %s\n\n%s\n\n" % (p["section"], p["text"])
                                                             for p in pairs if p["language"] == language))
        rem.run("sync", "add", rem.scratch / language, "--namespace", language)
    embedded(rem)
    kept = others = first = 0
    for p in pairs:
        found = [topics[h["namespace"], h["section"]] for h in asked(rem, "/search", {"query": p["question"], "limit": 100})]
        kept += p["topic"] in found
        others += sum(t != p["topic"] for t in found)
        hits = rem.json("search", p["question"], "--kind", "chunk", "--limit", 1)["hits"]
        first += bool(hits) and topics[hits[0]["namespace"], hits[0]["section"]] == p["topic"]
    print("at .7: %d of 40 kept, %.1f others for each question; %d of 40 first" % (kept, others / 40, first))
    assert kept >= 28 and others / 40 <= 4 and first >= 20


@needs_model
def test_an_edit_and_a_rename_embed_only_what_is_new(rem, notes):
    (notes / "more.md").write_text("".join("## Part %d\n\nSomething to be said about number %d.\n\n" % (i, i) for i in range(20)))
    install(rem)
    add(rem)
    before = embedded(rem)
    assert before == 23
    (notes / "more.md").write_text((notes / "more.md").read_text().replace("about number 7", "against number 7"))
    rem.run("sync", "run")
    assert embedded(rem) == before + 1
    (notes / "more.md").rename(notes / "elsewhere.md")
    rem.run("sync", "run")
    assert embedded(rem) == before + 1 and folder(rem)["chunks"] == 23
