"""Finding by meaning, through the real programs. Needs the model file, which tests/run gets (REMANENCE_TEST_MODEL names another)."""
import json
import os
import pathlib
import shutil
import threading

import pytest

from lib import ClaudeSession, Remanence, wait_for

PAIRS = pathlib.Path(__file__).parent.parent / "data" / "pairs"
MODEL = pathlib.Path(os.environ.get("REMANENCE_TEST_MODEL") or
                     pathlib.Path(os.environ.get("REMANENCE_TEST_CACHE", "/nonexistent")) / "model" / "model.bin")
needs_model = pytest.mark.skipif(not MODEL.is_file(), reason="there is no model file; get it with: tools/model-get %s" % MODEL.parent)
HOUR = "OAuth refresh token rotation logs users out after 60 minutes"
HEURE = "pourquoi la connexion tombe au bout d'une heure"


def embedder(rem):
    return rem.json("status")["embedder"]


def embedded(rem):
    """Waits until everything has its vector."""
    wait_for(lambda: rem.json("stats")["jobs"]["embed"] == 0, "everything to be embedded")
    return rem.json("stats")["vectors"]


def install(rem):
    """As `model install`, without copying 55 MB for each test."""
    folder = rem.home / "model"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.bin").symlink_to(MODEL)


@pytest.fixture
def meaning(build, tmp_path):
    rem = Remanence(build, tmp_path)
    rem.make_repo()
    install(rem)
    yield rem
    rem.close()


def pairs(name):
    return [json.loads(line) for line in (PAIRS / name).read_text().splitlines()]


@needs_model
def test_questions_without_a_common_word_find_their_note(meaning):
    sets = {name: pairs(name) for name in ("french-english.jsonl", "english.jsonl")}
    refs = {}
    for pair in sum(sets.values(), []):
        refs[pair["note"]] = meaning.json("remember", pair["note"])["ref"]
    assert embedded(meaning) == 40
    for name, least in (("french-english.jsonl", (.6, .8)), ("english.jsonl", (.2, .6))):
        ranks = []
        for pair in sets[name]:
            hits = [h["ref"] for h in meaning.json("search", pair["question"], "--limit", 5)["hits"]]
            ranks.append(hits.index(refs[pair["note"]]) if refs[pair["note"]] in hits else None)
        at1, at5 = sum(r == 0 for r in ranks) / len(ranks), sum(r is not None for r in ranks) / len(ranks)
        print("%s: hit@1 %.2f, hit@5 %.2f" % (name, at1, at5))
        assert at1 >= least[0] and at5 >= least[1], (name, ranks)


def test_without_the_model_file_words_answer_and_status_says_how_to_get_it(rem):
    rem.make_repo()
    rem.run("remember", HOUR)
    state = embedder(rem)
    if state["on"]:
        pytest.skip("a model file stands beside the programs under test")
    assert state["why"] == "vectors: off (no model file)" and "model install" in state["hint"]
    assert "off (no model file)" in rem.run("status").out
    reply = rem.json("search", "refresh token", "--mode", "semantic")
    assert reply["mode"] == "lexical" and "vectors: off" in reply["note"] and len(reply["hits"]) == 1
    assert rem.json("search", HEURE)["hits"] == []
    assert rem.json("stats")["jobs"]["embed"] == 0


@needs_model
def test_each_mode_says_what_it_is(meaning):
    meaning.run("remember", HOUR)
    meaning.run("remember", "The parser keeps one arena per file")
    embedded(meaning)
    reply = meaning.json("search", HEURE, "--explain")
    assert (reply["mode"], reply["match"]) == ("hybrid", "meaning")
    hit = reply["hits"][0]
    assert hit["match"] == "meaning" and hit["explain"]["meaning"] > 0 and hit["explain"]["own"] == 0
    assert meaning.json("search", HEURE, "--mode", "lexical")["hits"] == []
    assert meaning.json("search", HEURE, "--mode", "semantic")["mode"] == "semantic"
    both = meaning.json("search", "refresh token rotation", "--explain")
    assert both["match"] in ("exact", "stem") and both["hits"][0]["explain"]["own"] > 0
    assert both["hits"][0]["explain"]["meaning"] > 0
    # Exact phrases are about words.
    assert meaning.json("search", '"bout d\'une heure"')["hits"] == []


@needs_model
def test_filters_hold_for_what_meaning_finds(meaning, tmp_path):
    other = meaning.make_repo(tmp_path / "other")
    meaning.run("remember", HOUR)
    meaning.run("remember", "Logging in stops working after an hour", cwd=other)
    embedded(meaning)
    assert len(meaning.json("search", HEURE, "--project", "all")["hits"]) == 2
    assert [h["project"] for h in meaning.json("search", HEURE, cwd=other)["hits"]] == ["other"]
    assert meaning.json("search", HEURE, "--type", "bugfix", "--project", "all")["hits"] == []
    assert meaning.json("search", HEURE, "--before", "2001-01-01", "--project", "all")["hits"] == []


@needs_model
def test_what_was_known_at_a_time_or_is_about_a_file_is_found_by_meaning_too(meaning):
    about = meaning.json("remember", HOUR, "--file", "src/login.c")["ref"]
    other = meaning.json("remember", "Logging in stops working after an hour", "--file", "src/parser.c")["ref"]
    embedded(meaning)
    reply = meaning.json("search", HEURE, "--file", "src/login.c")
    assert reply["mode"] == "hybrid" and [h["ref"] for h in reply["hits"]] == [about]
    assert {h["ref"] for h in meaning.json("search", HEURE, "--as-of", "2100-01-01")["hits"]} == {about, other}
    assert meaning.json("search", HEURE, "--as-of", "2001-01-01")["hits"] == []
    # What meaning found is not found by words again.
    both = [h["ref"] for h in meaning.json("search", "refresh token rotation hour", "--as-of", "2100-01-01")["hits"]]
    assert sorted(both) == sorted({about, other})
    assert meaning.json("search", "refresh token rotation hour", "--as-of", "2100-01-01", "--limit", 1, "--offset", 1)["hits"][0]["ref"] == both[1]


@needs_model
def test_a_forgotten_text_is_never_found_and_leaves_no_vector(meaning):
    meaning.run("remember", HOUR)
    ref = meaning.json("remember", "Logging in stops working after an hour")["ref"]
    embedded(meaning)
    over, seen, late = threading.Event(), [], []

    def ask():
        while not over.is_set():
            refs = [h["ref"] for h in meaning.json("search", HEURE)["hits"]]
            (late if seen else []).extend(r for r in refs if r == ref)
    meaning.run("forget", ref)
    seen.append(True)
    threads = [threading.Thread(target=ask) for _ in range(2)]
    for t in threads:
        t.start()
    for n in range(5):
        meaning.run("remember", "Note %d about nothing in particular, to keep the embedder busy" % n)
    over.set()
    for t in threads:
        t.join()
    assert late == []
    assert embedded(meaning) == 6
    meaning.run("stop")
    assert ref not in [h["ref"] for h in meaning.json("search", HEURE)["hits"]]


@needs_model
def test_vectors_survive_a_restart_and_damage_is_made_good(meaning):
    for n in range(6):
        meaning.run("remember", "%s, note %d" % (HOUR, n))
    assert embedded(meaning) == 6
    meaning.run("stop")
    folder = meaning.home / "index" / "vectors"
    files = sorted(p for p in folder.iterdir() if p.name != "manifest")
    assert files
    meaning.start()
    assert embedded(meaning) == 6 and embedder(meaning)["made"] == 0
    meaning.run("stop")
    data = bytearray(files[0].read_bytes())
    data[len(data) // 2] ^= 4
    files[0].write_bytes(data)
    meaning.start()
    assert embedded(meaning) == 6 and embedder(meaning)["made"] == 6
    meaning.run("stop")
    shutil.rmtree(folder)
    meaning.start()
    assert embedded(meaning) == 6
    assert meaning.json("search", HEURE)["match"] == "meaning"


@needs_model
def test_vectors_of_another_model_are_made_anew(meaning):
    meaning.run("remember", HOUR)
    embedded(meaning)
    meaning.run("stop")
    manifest = meaning.home / "index" / "vectors" / "manifest"
    assert b"use-multilingual" in manifest.read_bytes()
    # A manifest of an older model, as its own daemon would have left it: this one's checksum no longer holds, which counts the same.
    manifest.write_bytes(manifest.read_bytes().replace(b"use-multilingual", b"use-unilinguall_"))
    meaning.start()
    assert embedded(meaning) == 1 and embedder(meaning)["made"] == 1


@needs_model
def test_a_changed_text_is_found_by_its_new_meaning(meaning):
    ref = meaning.json("remember", "The weather service returns wrong temperatures")["ref"]
    embedded(meaning)
    meaning.run("edit", ref, "--text", HOUR, "--title", HOUR)
    embedded(meaning)
    assert [h["ref"] for h in meaning.json("search", HEURE)["hits"]] == [ref]
    assert embedded(meaning) == 1


@needs_model
def test_prompts_and_replies_are_found_by_meaning(meaning):
    session = ClaudeSession(meaning, meaning.repo)
    session.hook("SessionStart", source="startup")
    session.prompt("Users are logged out after sixty minutes since we rotate the refresh tokens. Please find out why.")
    session.reply("The rotation drops the previous token at once; requests under way then fail. A grace period fixes it.")
    session.hook("SessionEnd", reason="exit")
    meaning.start()
    meaning.drained()
    wait_for(lambda: meaning.json("stats")["vectors"] >= 2, "the session to be embedded")
    embedded(meaning)
    reply = meaning.json("search", HEURE, "--scope", "sessions")
    assert [h["agent_session"] for h in reply["hits"]] == [session.id]
    assert meaning.json("search", HEURE, "--scope", "messages")["hits"]


@needs_model
def test_the_model_can_be_installed_looked_at_and_removed(build, tmp_path):
    rem = Remanence(build, tmp_path)
    rem.make_repo()
    try:
        rem.run("remember", HOUR)
        if embedder(rem)["on"]:
            pytest.skip("a model file stands beside the programs under test")
        wrong = tmp_path / "wrong.bin"
        wrong.write_bytes(b"not a model" * 1000)
        refused = rem.run("model", "install", wrong, check=False)
        assert refused.status != 0 and str(wrong) in refused.err
        cut = tmp_path / "cut.bin"
        cut.write_bytes(MODEL.read_bytes()[: 20 << 20])
        refused = rem.run("model", "install", cut, check=False)
        assert refused.status != 0 and str(cut) in refused.err
        assert not embedder(rem)["on"] and not (rem.home / "model" / "model.bin").exists()
        assert rem.json("model", "install", MODEL)["on"]
        embedded(rem)
        assert rem.json("search", HEURE)["match"] == "meaning"
        assert rem.json("model", "status")["vectors"] == 1
        assert not rem.json("model", "remove")["on"]
        assert rem.json("search", HEURE)["mode"] == "lexical"
        assert rem.run("model", "remove", check=False).status != 0
    finally:
        rem.close()


@needs_model
def test_the_setting_switches_vectors_off_and_on(meaning):
    meaning.run("remember", HOUR)
    embedded(meaning)
    meaning.run("config", "set", "embed.provider", "none")
    wait_for(lambda: not embedder(meaning)["on"], "vectors to be off")
    assert "embed.provider" in embedder(meaning)["why"]
    assert meaning.json("search", HEURE)["mode"] == "lexical"
    meaning.run("config", "set", "embed.provider", "builtin")
    wait_for(lambda: embedder(meaning)["on"], "vectors to be on")
    assert meaning.json("search", HEURE)["match"] == "meaning"


@needs_model
def test_recall_answers_a_question_in_other_words(meaning):
    for pair in pairs("french-english.jsonl"):
        meaning.run("remember", pair["note"])
    embedded(meaning)
    answer = meaning.json("recall", "les clients trouvent le bouton minuscule sur mobile")
    assert "the button is too small on phones" in answer["text"]
    assert not meaning.json("recall", "recette de la tarte aux pommes")["found"]


@needs_model
def test_a_prompt_in_other_words_is_given_the_memory_it_means(meaning):
    """Without a session start, which would give the notes already."""
    for pair in pairs("french-english.jsonl"):
        meaning.run("remember", pair["note"])
    embedded(meaning)
    meaning.run("config", "set", "hook.ask_ms", "10000")
    session = ClaudeSession(meaning, meaning.repo)
    assert "the button is too small on phones" in session.prompt("les clients trouvent le bouton minuscule sur mobile")
    assert session.prompt("donne-moi une recette de tarte aux pommes") == ""
