"""A real Ollama with a small real model: its own door and its OpenAI one, as the observer asks it."""
import json
import subprocess

import pytest

from lib import Driver

# A test may wait for the server to be built.
pytestmark = [pytest.mark.e2e, pytest.mark.timeout(3600)]

SCHEMA = {"type": "object", "required": ["title", "type"], "additionalProperties": False,
          "properties": {"title": {"type": "string", "maxLength": 80}, "type": {"type": "string", "enum": ["bugfix", "feature", "nothing"]}}}
QUESTION = "The person asked for a fix of the login timeout. The assistant ran: pytest tests/test_login.py (exit 1), changed 30 to 300 in login.py, ran pytest again (exit 0)."


def ask(build, provider, url, question=QUESTION, **options):
    driver = Driver(build, "llm_ask", question, model="smollm2", timeout_ms=240000, stall_ms=200000, max_tokens=120)
    return driver.run(provider, url, timeout=500, **options)


@pytest.mark.parametrize("provider", ["ollama", "openai"])
def test_a_real_model_answers_by_schema(build, url, provider):
    first, second = ask(build, provider, url, system="You describe work in one line.", schema=json.dumps(SCHEMA), times=2)
    for a in (first, second):
        assert a["outcome"] in ("ok", "cut"), a
        assert a["tokens_in"] > 10 and a["tokens_out"] > 1 and a["model"].startswith("smollm2"), a
    if first["outcome"] == "ok":
        assert set(json.loads(first["text"])) == {"title", "type"}
    assert first["text"] == second["text"]  # temperature 0
    assert (first["queue_ms"] >= 0) == (provider == "ollama")


@pytest.mark.parametrize("provider", ["ollama", "openai"])
def test_a_real_answer_is_cut_at_its_limit(build, url, provider):
    [a] = ask(build, provider, url, question="Count from one to one hundred in words.", max_tokens=5)
    assert a["outcome"] == "cut" and a["is_cut"] and a["tokens_out"] <= 6, a


@pytest.mark.parametrize("provider", ["ollama", "openai"])
def test_a_real_server_says_that_it_has_no_such_model(build, url, provider):
    [a] = ask(build, provider, url, model="missing-model")
    assert a["outcome"] == "setup" and "missing-model" in a["detail"], a
    assert ask(build, provider, url, check=1) == []
    [error] = ask(build, provider, url, check=1, model="missing-model")
    assert "missing-model" in error["detail"] and "smollm2" in error["hint"]


def test_a_real_server_says_that_a_question_is_too_long_instead_of_cutting_it(build, url):
    [a] = ask(build, "ollama", url, question="word " * 3000, context_tokens=1024)
    assert a["outcome"] == "request" and a["next"] == "shorter" and "context" in a["detail"], a


def test_requests_that_wait_in_a_real_queue_say_so(build, url, scratch):
    question = scratch / "question"
    question.write_text("Tell a long story about the sea.")
    running = [subprocess.Popen([str(build / "tests" / "drive" / "llm_ask"), "ollama", url, "model=smollm2", "timeout_ms=240000", "stall_ms=200000",
                                 "max_tokens=60"], stdin=question.open(), stdout=subprocess.PIPE, text=True) for _ in range(3)]
    answers = [json.loads(p.communicate(timeout=500)[0]) for p in running]
    assert all(a["outcome"] in ("ok", "cut") for a in answers), answers
    waits = sorted(a["queue_ms"] for a in answers)
    assert waits[0] >= 0 and waits[-1] > waits[0] and waits[-1] >= max(a["total_ms"] for a in answers) / 4, answers


def test_a_request_that_is_given_up_frees_the_real_server(build, url):
    [a] = ask(build, "ollama", url, question="Tell a very long story.", max_tokens=4000, stop_ms=1500)
    assert a["outcome"] == "aborted", a
    [a] = ask(build, "ollama", url, question="Say yes.", max_tokens=3)
    assert a["outcome"] in ("ok", "cut") and a["queue_ms"] < 60000, a
