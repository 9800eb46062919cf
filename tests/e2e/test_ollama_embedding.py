"""A real Ollama as the embedder, with a real small model: found by meaning through the real daemon."""
import json
import pathlib

import pytest

from lib import Driver, wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(3600)]

NOTES = ["The parser strips trailing white space from every line.", "Deploying is done with make ship, from the main branch only.",
         "The printer on the second floor is out of order.", "Bread needs flour, water, salt and time."]


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
    driver = Driver(build, "embed_ask", "hello world\n", model="all-minilm")
    [result] = driver.run(provider, url, timeout=300, timeout_ms=200000)
    assert result["outcome"] == "ok" and result["dims"] == 384
    assert result["vectors"][0][:4] == pytest.approx([-0.0345, 0.0309, 0.0067, 0.0261], abs=0.002)
    [result] = driver.run(provider, url, timeout=300, model="missing-model", timeout_ms=200000)
    assert result["outcome"] == "setup" and "missing-model" in result["detail"]
    assert driver.run(provider, url, timeout=300, check=1) == []


def test_the_threshold_that_scripts_send_keeps_the_right_section_and_drops_most_others(rem, url):
    pairs = [json.loads(line) for line in (pathlib.Path(__file__).parent.parent / "data" / "sections" / "pairs.jsonl").read_text().splitlines()]
    pairs = [p for p in pairs if p["language"] == "en"]
    rem.env.update(REMANENCE_EMBED_ASK_MS="60000")
    for key, value in (("url", url), ("model", "all-minilm"), ("provider", "ollama")):
        rem.run("config", "set", "embed." + key, value)
    folder = rem.scratch / "notes"
    folder.mkdir()
    (folder / "page.md").write_text("".join("## %s\n\n%s\n\n" % (p["section"], p["text"]) for p in pairs))
    rem.run("sync", "add", folder, "--namespace", "notes")
    wait_for(lambda: rem.json("status")["embedder"]["vectors"] == len(pairs), "the sections to be embedded")
    kept = others = 0
    for p in pairs:
        sections = [h["section"] for h in rem.http("/search", {"query": p["question"], "threshold": .7, "limit": 100})]
        kept += p["section"] in sections
        others += len(sections) - (p["section"] in sections)
    assert kept >= len(pairs) * .8, kept
    assert others <= len(pairs) * (len(pairs) - 1) * .2, others
