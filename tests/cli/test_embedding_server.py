"""What becomes of texts that a server is to embed, for each thing that servers do."""
import json
import math
import uuid

import pytest

import model_server
from lib import Driver

ALL = ("openai", "ollama", "jobs")
KEY = "sk-embed-0123456789"
TEXTS = "the parser reads names\nla recette du pain\n日本語のテキスト 🎉"


@pytest.fixture
def driver(build, shared_server):
    shared_server.clear()
    return Driver(build, "embed_ask", TEXTS, shared_server, model=model_server.MODEL)


def unit(text, dims=model_server.DIMS):
    v = model_server.embed(text, dims)
    length = math.sqrt(sum(x * x for x in v))
    return [x / length for x in v]


def assert_vectors(result, texts=TEXTS):
    assert result["outcome"] == "ok", result
    assert result["dims"] == model_server.DIMS
    for vector, text in zip(result["vectors"], texts.split("\n"), strict=True):
        assert vector == pytest.approx(unit(text), abs=2e-6)


@pytest.mark.parametrize("provider,behaviour", [("openai", "ok"), ("ollama", "ok"), ("jobs", "ok"), ("openai", "shuffled"), ("ollama", "old"),
                                                ("openai", "no-v1"), ("jobs", "job-slow"), ("jobs", "job-number")])
def test_vectors_come_in_the_order_of_the_texts_and_of_unit_length(driver, provider, behaviour):
    result, requests = driver.ask(provider, behaviour)
    assert_vectors(result)
    assert result["id"] == ("openai/" if provider == "openai" else "ollama/") + model_server.MODEL
    posts = [r for r in requests if r["body"]]
    assert len(posts) == {"ok": 3 if provider == "jobs" else 1, "shuffled": 1, "old": 4, "no-v1": 2}.get(behaviour, 3)


def test_an_old_server_and_a_path_without_version_are_remembered(driver):
    for provider, behaviour, first, later in (("ollama", "old", 4, 3), ("openai", "no-v1", 2, 1)):
        result, requests = driver.ask(provider, behaviour, times=3)
        assert_vectors(result)
        assert len(requests) == first + 2 * later


def test_more_jobs_than_may_wait_at_once(driver):
    texts = "\n".join("text number %d" % i for i in range(20))
    result, requests = driver.ask("jobs", "ok", texts)
    assert_vectors(result, texts)
    first_look = next(i for i, r in enumerate(requests) if not r["body"])
    assert first_look == 8
    body = json.loads(requests[0]["body"])
    assert body == {"tool_id": "ollama", "job_type": "embeddings", "priority": "normal",
                    "input_params": {"model": model_server.MODEL, "prompt": "text number 0"}}


FAILURES = [
    ("ragged", ("openai", "ollama"), "server", "dimension"),
    ("short", ("openai", "ollama"), "server", "2 vectors for 3 texts"),
    ("long", ("openai", "ollama"), "server", "more vectors"),
    ("doubled", ("openai",), "server", "more vectors"),
    ("zero", ALL, "server", "no direction"),
    ("nulls", ALL, "server", "no direction"),
    ("none", ALL, "server", "0 numbers"),
    ("job-failed", ("jobs",), "server", "CUDA out of memory"),
    ("job-model", ("jobs",), "setup", "not found"),
    ("job-no-id", ("jobs",), "server", "job_id"),
    ("job-evil-id", ("jobs",), "server", "job_id"),
    ("alien", ("openai", "ollama", "jobs"), "server", ""),
    ("page", ALL, "server", "Corporate Wi-Fi"),
    ("prose", ALL, "server", "text/plain"),
    ("rate-seconds", ALL, "rate_limit", "429"),
    ("quota", ALL, "quota", "billing"),
    ("auth", ALL, "auth", "401"),
    ("auth-echo", ALL, "auth", "***"),
    ("model-unknown", ALL, "setup", "does not exist"),
    ("no-path", ALL, "setup", "404"),
    ("too-long", ALL, "request", "maximum context"),
    ("busy", ALL, "rate_limit", "busy"),
    ("error-500", ALL, "server", "500"),
    ("reset", ALL, "network", ""),
    ("close", ALL, "network", ""),
    ("short-body", (), "network", ""),
    ("big-error", ALL, "server", ""),
]


@pytest.mark.parametrize("behaviour,provider,outcome,words", [(b, p, o, w) for b, who, o, w in FAILURES for p in who])
def test_every_failure_has_its_outcome_and_gives_no_vector(driver, behaviour, provider, outcome, words):
    result, requests = driver.ask(provider, behaviour, key=KEY)
    assert (result["outcome"], result["vectors"]) == (outcome, []), result
    assert words in result["detail"] and result["detail"] and KEY not in json.dumps(result), result
    assert requests
    assert result["is_too_long"] == (behaviour == "too-long")
    assert result["retry_after_ms"] == (7000 if behaviour == "rate-seconds" else -1)


@pytest.mark.parametrize("provider,behaviour", [("openai", "slow-headers"), ("ollama", "slow-body"), ("jobs", "slow-headers"), ("jobs", "job-never")])
def test_slow_answers_end_in_time(driver, provider, behaviour):
    if behaviour == "job-never":
        result = driver.ask(provider, behaviour, timeout_ms=900)[0]
    else:
        result = driver.ask(provider, behaviour, timeout_ms=900)[0]
    assert result["outcome"] == "timeout" and result["total_ms"] < 8000, result


@pytest.mark.parametrize("provider", ("openai", "ollama"))
def test_a_dimension_that_changes_is_not_taken(driver, provider):
    name = "wrong-dims~%s" % uuid.uuid4().hex
    first, second = driver.run(provider, "%s/%s" % (driver.server.url, name), times=2)
    assert first["outcome"] == "ok" and second["outcome"] == "setup" and second["vectors"] == []
    assert "47 numbers, and 48 were expected" in second["detail"]


@pytest.mark.parametrize("provider", ALL)
def test_a_dimension_that_was_configured_is_checked(driver, provider):
    result, requests = driver.ask(provider, "ok", dims=64)
    assert result["outcome"] == "setup" and "embed.dimension" in result["detail"]
    assert_vectors(driver.ask(provider, "ok", dims=model_server.DIMS)[0])
    assert ("dimensions" in json.loads(requests[0]["body"])) == (provider == "openai")


@pytest.mark.parametrize("model,question,document", [
    ("nomic-embed-text:v1.5", "search_query: ", "search_document: "), ("intfloat/multilingual-e5-small", "query: ", "passage: "),
    ("all-minilm", "", ""), ("bge-m3", "", ""), ("text-embedding-3-small", "", "")])
def test_models_are_told_what_a_text_is_for_as_they_were_trained(driver, model, question, document):
    for use, before in ((0, document), (1, question)):
        result, [request] = driver.ask("ollama", "ok", "one text", model=model, use=use)
        assert json.loads(request["body"])["input"] == [before + "one text"]
        assert result["id"] == "ollama/" + model + ("+prefix" if question else "")


def test_an_empty_text_is_sent_as_one_that_servers_take(driver):
    _, [request] = driver.ask("openai", "ok", "\n")
    assert json.loads(request["body"])["input"] == [" "]


@pytest.mark.parametrize("tail,path", [("", "/v1/embeddings"), ("/v1/", "/v1/embeddings"), ("/v1/embeddings", "/v1/embeddings")])
def test_the_address_is_taken_in_every_usual_form(driver, tail, path):
    [result] = driver.run("openai", driver.server.url + "/ok" + tail)
    assert result["outcome"] == "ok" and driver.server.log[-1]["path"] == path


@pytest.mark.parametrize("provider", ALL)
def test_a_key_is_sent_and_a_look_embeds_nothing(driver, provider):
    _, requests = driver.ask(provider, "ok", key=KEY)
    assert all(r["headers"]["authorization"] == "Bearer " + KEY for r in requests)
    driver.server.clear()
    assert driver.run(provider, driver.server.url + "/ok", check=1) == []
    assert [r["body"] for r in driver.server.log] == [""]


def test_a_look_says_that_the_orchestrators_tool_does_not_run(driver):
    [error] = driver.run("jobs", driver.server.url + "/job-stopped", check=1)
    assert error["error"] == "upstream" and "stopped" in error["detail"]


@pytest.mark.parametrize("provider,url,options,words", [("jobs", "", {}, "embed.url"), ("ollama", "http://x", {"model": ""}, "embed.model"),
                                                        ("openai", "gopher://x", {}, "http://"), ("ollama", "http://x", {"key_file": "/nonexistent"}, "/nonexistent")])
def test_settings_that_say_too_little_are_said(driver, provider, url, options, words):
    [error] = driver.run(provider, url, **options)
    assert error["error"] == "usage" and words in error["detail"]
