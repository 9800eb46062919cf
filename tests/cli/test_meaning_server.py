"""Vectors by a server: made in batches, kept when paid for, answering on while another model takes over, and never in the way."""
import json

import pytest

import model_server
from lib import ClaudeSession, Remanence, wait_for
from test_meaning import embedded, embedder, install, needs_model

NOTES = ["the parser strips trailing white space", "deploy with make ship from the main branch", "the printer on the second floor is broken",
         "bread needs flour, water, salt and time"]
MEANT = ["--mode", "semantic"]


@pytest.fixture
def asked(build, tmp_path, server):
    """Remanence with the scripted server as its embedder."""
    rem = Remanence(build, tmp_path)
    rem.make_repo()
    rem.env.update(REMANENCE_EMBED_ASK_MS="5000")
    rem.start()
    yield rem
    server.gate.set()
    rem.close()


def use(rem, server, provider, behaviour, model="scripted-1"):
    rem.run("config", "set", "embed.url", "%s/%s" % (server.url, behaviour))
    rem.run("config", "set", "embed.model", model)
    rem.run("config", "set", "embed.provider", provider)


def posts(server):
    return [r for r in server.log if r["body"]]


def texts(server):
    """All that was sent to be embedded."""
    found = []
    for r in posts(server):
        body = json.loads(r["body"])
        found += body.get("input") or [body["input_params"]["prompt"]]
    return found


def calls(rem):
    return rem.sql("SELECT provider, model, units, tokens_in, outcome FROM model_call WHERE kind = 5 ORDER BY id")


def best(rem, question):
    result = rem.json("search", question, *MEANT)
    return result["hits"][0]["title"] if result["hits"] else None


@pytest.mark.parametrize("provider", ["openai", "ollama", "jobs"])
def test_a_server_embeds_and_questions_find_what_it_embedded(asked, server, provider):
    use(asked, server, provider, "ok")
    refs = [asked.json("remember", note)["ref"] for note in NOTES]
    assert embedded(asked) == 4
    state = embedder(asked)
    assert state["on"] and state["dimension"] == model_server.DIMS and not state["old_answers"]
    assert state["model"] == ("openai/" if provider == "openai" else "ollama/") + "scripted-1"
    result = asked.json("search", "flour and water", *MEANT)
    assert result["hits"][0]["ref"] == refs[3] and result["mode"] == "semantic"
    recorded = calls(asked)
    assert recorded and all(c[:2] == (provider, "scripted-1") and c[4] == 1 for c in recorded)
    if provider != "jobs":
        assert all(c[3] == 7 * c[2] for c in recorded)


def health(rem):
    return rem.http("/health")


def test_health_says_whether_ollama_is_well(asked, server):
    assert health(asked) == {"status": "ok", "ollama": False}
    use(asked, server, "ollama", "live")
    asked.run("remember", NOTES[0])
    assert embedded(asked) == 1 and health(asked)["ollama"] is True
    server.state["live"] = "error-500"
    asked.run("remember", NOTES[1])
    wait_for(lambda: not health(asked)["ollama"], "the trouble to be said")


def test_a_restart_and_a_lost_index_pay_for_nothing_again(asked, server):
    use(asked, server, "openai", "ok")
    for note in NOTES:
        asked.run("remember", note)
    assert embedded(asked) == 4
    asked.run("stop")
    server.clear()
    asked.start()
    assert embedded(asked) == 4 and best(asked, "flour and water").startswith("bread")
    assert [t for t in texts(server) if t != "flour and water"] == []
    asked.run("stop")
    for folder in asked.home.rglob("vectors*"):
        for f in folder.iterdir():
            f.unlink()
    server.clear()
    asked.start()
    wait_for(lambda: embedder(asked)["vectors"] == 4, "the vectors to be back")
    assert set(texts(server)) <= {"dimension"}


def test_many_texts_go_in_few_requests(asked, server):
    for i in range(60):
        asked.run("remember", "note number %d says %s" % (i, NOTES[i % 4]))
    use(asked, server, "openai", "ok")
    assert embedded(asked) == 60
    assert len(posts(server)) <= 6


def test_one_text_that_is_too_long_holds_nobody_up(asked, server):
    use(asked, server, "openai", "one-too-long")
    asked.run("remember", "words of a long story. " * 40)
    for note in NOTES:
        asked.run("remember", note)
    assert embedded(asked) == 5
    assert best(asked, "flour and water").startswith("bread")


@pytest.mark.parametrize("behaviour", ["error-500", "reset", "quota", "auth", "page", "slow-headers", "nulls"])
def test_without_its_server_words_alone_answer_and_the_server_is_left_alone(asked, server, behaviour):
    asked.run("config", "set", "embed.timeout_ms", "1000")
    asked.env.update(REMANENCE_EMBED_ASK_MS="400")
    asked.run("stop")
    use(asked, server, "openai", behaviour)
    for note in NOTES:
        asked.run("remember", note)
    wait_for(lambda: embedder(asked)["trouble"], "the trouble to be said")
    result = asked.json("search", "flour")
    assert result["mode"] == "lexical" and len(result["hits"]) == 1
    n = len(posts(server))
    for _ in range(5):
        assert len(asked.json("search", "flour")["hits"]) == 1
    assert len(posts(server)) <= n + 1
    outcome = {"error-500": 13, "reset": 12, "quota": 10, "auth": 11, "page": 13, "slow-headers": 7, "nulls": 13}[behaviour]
    assert calls(asked)[0][4] == outcome
    said = asked.run("status").out
    assert "by openai/scripted-1, more cannot be made now" in said and "The embedder" in said
    # The person mends it, and it is tried at once.
    use(asked, server, "openai", "ok")
    assert embedded(asked) == 4


def test_a_server_that_comes_back_is_asked_again_by_itself(asked, server):
    use(asked, server, "openai", "live")
    server.state["live"] = "error-500"
    for note in NOTES:
        asked.run("remember", note)
    wait_for(lambda: embedder(asked)["trouble"], "the trouble to be said")
    server.state["live"] = "ok"
    assert embedded(asked) == 4
    assert not embedder(asked)["trouble"]


def test_a_question_does_not_wait_for_a_slow_server(asked, server):
    asked.env.update(REMANENCE_EMBED_ASK_MS="200")
    asked.run("stop")
    use(asked, server, "openai", "live")
    for note in NOTES:
        asked.run("remember", note)
    assert embedded(asked) == 4
    server.state["live"] = "slow-headers"
    result = asked.json("search", "flour")
    assert result["mode"] == "lexical" and len(result["hits"]) == 1
    server.clear()
    for _ in range(3):
        assert asked.json("search", "flour")["mode"] == "lexical"
    assert posts(server) == []


def test_another_model_takes_over_while_the_old_vectors_answer(asked, server):
    use(asked, server, "openai", "live")
    for note in NOTES:
        asked.run("remember", note)
    assert embedded(asked) == 4
    server.state["live"] = "error-500"
    asked.run("config", "set", "embed.model", "scripted-2")
    asked.run("remember", "a note that only words can find yet")
    wait_for(lambda: embedder(asked)["trouble"], "the trouble to be said")
    state = embedder(asked)
    assert state["old_answers"] and state["model"] == "openai/scripted-2" and state["vectors"] == 0
    server.state.update(live="ok", dims=96)
    wait_for(lambda: embedder(asked)["vectors"] == 5 and not embedder(asked)["old_answers"], "the new model to have everything")
    assert embedder(asked)["dimension"] == 96
    assert best(asked, "flour and water").startswith("bread")
    assert len(list(asked.home.rglob("vectors-*"))) >= 1
    assert len([p for p in asked.home.rglob("vectors-*") if p.is_dir()]) == 1


def test_a_model_whose_dimension_changed_is_embedded_anew(asked, server):
    use(asked, server, "openai", "ok")
    for note in NOTES:
        asked.run("remember", note)
    assert embedded(asked) == 4
    asked.run("stop")
    server.state["dims"] = 64
    asked.start()
    asked.run("remember", "one more note about cheese")
    wait_for(lambda: embedder(asked)["dimension"] == 64 and embedder(asked)["vectors"] == 5, "everything anew")
    assert best(asked, "flour and water").startswith("bread")


def test_what_is_forgotten_goes_from_every_models_vectors(asked, server):
    use(asked, server, "openai", "live")
    ref = asked.json("remember", NOTES[3])["ref"]
    for note in NOTES[:3]:
        asked.run("remember", note)
    assert embedded(asked) == 4
    server.state["live"] = "error-500"
    asked.run("config", "set", "embed.model", "scripted-2")
    wait_for(lambda: embedder(asked)["old_answers"], "the old vectors to answer")
    asked.run("forget", ref, "--yes")
    assert asked.sql("SELECT count(*) FROM vector") == [(3,)]
    assert all(not h["title"].startswith("bread") for h in asked.json("search", "flour and water", *MEANT)["hits"])


def test_prompts_and_replies_are_embedded_in_pieces(asked, server):
    use(asked, server, "openai", "ok")
    s = ClaudeSession(asked, asked.repo)
    s.hook("SessionStart", source="startup")
    s.prompt("Why does the login fail after an hour? " + "It is a long story about tokens and clocks. " * 80)
    s.reply("The token expired because the clock of the server was wrong.")
    asked.drained()
    wait_for(lambda: embedded(asked) >= 4, "prompt and reply to be embedded")
    sent = texts(server)
    assert max(map(len, sent)) < 6100 and sum("long story" in t for t in sent) >= 3


@needs_model
def test_the_builtin_vectors_answer_until_a_server_has_everything(build, tmp_path, server):
    rem = Remanence(build, tmp_path)
    rem.make_repo()
    install(rem)
    rem.env.update(REMANENCE_EMBED_ASK_MS="5000")
    try:
        for note in NOTES:
            rem.run("remember", note)
        assert embedded(rem) == 4
        server.state["live"] = "error-500"
        use(rem, server, "ollama", "live")
        wait_for(lambda: embedder(rem)["old_answers"], "the builtin vectors to answer on")
        assert best(rem, "how do I bake a loaf").startswith("bread")
        rem.run("stop")
        rem.start()
        wait_for(lambda: embedder(rem)["old_answers"], "the builtin vectors to answer after a start too")
        assert best(rem, "how do I bake a loaf").startswith("bread")
        server.state["live"] = "ok"
        wait_for(lambda: not embedder(rem)["old_answers"] and embedder(rem)["vectors"] == 4, "the server's vectors")
        assert best(rem, "flour and water").startswith("bread")
        rem.run("config", "set", "embed.provider", "builtin")
        wait_for(lambda: embedder(rem)["dimension"] == 512 and embedder(rem)["vectors"] == 4 and not embedder(rem)["old_answers"], "the builtin vectors again")
        assert best(rem, "how do I bake a loaf").startswith("bread")
    finally:
        rem.close()


def test_an_orchestrator_of_the_environment_is_taken_as_a_hand_made_service_names_it(build, tmp_path, server):
    rem = Remanence(build, tmp_path)
    rem.make_repo()
    rem.env.update(AI_ORCHESTRATOR_URL=server.url + "/ok", EMBEDDING_MODEL="nomic-embed-text")
    try:
        rem.run("remember", NOTES[0])
        print(embedder(rem), server.log[:3]); assert embedded(rem) == 1, embedder(rem)
        assert embedder(rem)["model"] == "ollama/nomic-embed-text+prefix"
        assert any(t == "search_document: " + NOTES[0] for t in texts(server))
    finally:
        rem.close()


def test_settings_that_cannot_work_are_said_in_the_status(asked, server):
    asked.run("config", "set", "embed.key_file", "/nonexistent/key")
    use(asked, server, "openai", "ok")
    state = wait_for(lambda: "key" in (embedder(asked)["why"] or "") and embedder(asked), "the embedder to be off")
    assert "/nonexistent/key" in state["why"]
