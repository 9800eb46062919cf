"""A real Ollama as the embedder, with a real small model: found by meaning through the real daemon."""
import json
import subprocess

import pytest

import ollama
from lib import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(3600)]

NOTES = ["The parser strips trailing white space from every line.", "Deploying is done with make ship, from the main branch only.",
         "The printer on the second floor is out of order.", "Bread needs flour, water, salt and time."]


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    url, process = ollama.start(tmp_path_factory.mktemp("ollama"))
    yield url
    ollama.stop(process)


@pytest.mark.parametrize("provider", ["ollama", "openai"])
def test_a_real_model_finds_by_meaning(rem, url, provider):
    rem.make_repo()
    rem.env.update(REMANENCE_EMBED_ASK_MS="60000")
    for key, value in (("url", url), ("model", "all-minilm"), ("provider", provider)):
        rem.run("config", "set", "embed." + key, value)
    refs = [rem.json("remember", note)["ref"] for note in NOTES]
    wait_for(lambda: rem.json("status")["embedder"]["vectors"] == 4, "the notes to be embedded")
    assert rem.json("status")["embedder"]["dimension"] == 384
    for question, i in (("how do I bake a loaf", 3), ("releasing the software to production", 1), ("office equipment that does not work", 2)):
        result = rem.json("search", question, "--mode", "semantic")
        assert result["mode"] == "semantic" and result["hits"][0]["ref"] == refs[i], (question, result)


@pytest.mark.parametrize("provider", ["ollama", "openai"])
def test_real_vectors_are_those_that_are_documented_and_a_missing_model_is_said(build, url, provider):
    def run(*options):
        done = subprocess.run([str(build / "tests" / "drive" / "embed_ask"), provider, url, *options], input="hello world\n", capture_output=True,
                              text=True, timeout=300)
        return json.loads(done.stdout.splitlines()[-1]) if done.stdout else None
    result = run("model=all-minilm", "timeout_ms=200000")
    assert result["outcome"] == "ok" and result["dims"] == 384
    assert result["vectors"][0][:4] == pytest.approx([-0.0345, 0.0309, 0.0067, 0.0261], abs=0.002)
    result = run("model=missing-model", "timeout_ms=200000")
    assert result["outcome"] == "setup" and "missing-model" in result["detail"]
    assert run("model=all-minilm", "check=1") is None
