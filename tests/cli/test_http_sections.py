"""The three routes over sections of markdown folders, in the shapes that scripts expect."""
import re

import pytest

from door import Door

REFUSED = [
    ({"query": ""}, 400, "Query cannot be empty"), ({"query": " \t\n "}, 400, "Query cannot be empty"), ({}, 400, "Query cannot be empty"),
    ({"query": None}, 400, "Query cannot be empty"), ({"query": 5}, 400, "query is 5"), ({"query": ["a"]}, 400, "query is"),
    ({"query": "x", "limit": 0}, 400, "limit is 0"), ({"query": "x", "limit": 101}, 400, "limit is 101"), ({"query": "x", "limit": 1.5}, 400, "limit is 1.5"),
    ({"query": "x", "limit": "many"}, 400, 'limit is "many"'), ({"query": "x", "limit": True}, 400, "limit is true"),
    ({"query": "x", "limit": -1}, 400, "limit is -1"), ({"query": "x", "threshold": 2}, 400, "threshold is 2"),
    ({"query": "x", "threshold": -0.1}, 400, "threshold is -0.1"), ({"query": "x", "threshold": "high"}, 400, 'threshold is "high"'),
    ({"query": "x", "threshold": []}, 400, "threshold is []"), ({"query": "x", "namespace": "no such"}, 404, "there is no namespace 'no such'"),
    ({"query": "x", "namespace": 7}, 400, "namespace is 7"), (b"query=x", 400, "not JSON"), (b"", 400, "Query cannot be empty"), (b"[1]", 400, "not a JSON object"),
    (b'"x"', 400, "not a JSON object"), (b'{"query":"x"', 400, "not JSON"), (b"\xff\xfe", 400, "not JSON"), ({"query": "x" * 20000}, 413, "longer than 16 KB"),
]


@pytest.mark.parametrize("body,status,words", REFUSED)
def test_what_is_wrong_with_a_search_is_said_in_one_sentence(door, body, status, words):
    reply = door.ask("POST", "/search", body, Content_Type="application/x-www-form-urlencoded")
    assert reply.status == status and reply.headers["content-type"] == "application/json"
    assert set(reply.json) == {"detail"} and words in reply.json["detail"] and "\n" not in reply.json["detail"]


def test_the_three_routes_answer_in_the_shapes_that_scripts_expect(door):
    health = door.ask("GET", "/health").json
    assert health["status"] == "ok" and isinstance(health["ollama"], bool)
    assert door.ask("GET", "/stats").json == {"total_chunks": 0, "total_files": 0, "last_sync": None}
    assert door.ask("POST", "/search", {"query": "déployer un service", "namespace": None, "limit": 5, "threshold": 0.7, "unknown": 1}).json == []
    assert door.ask("POST", "/search", {"query": "x", "limit": "5", "threshold": "0.7", "namespace": ""}).status == 200
    for path, method in (("/search", "GET"), ("/stats", "POST"), ("/health", "POST")):
        reply = door.ask(method, path, b"{}" if method == "POST" else None)
        assert reply.status == 405 and set(reply.json) == {"detail"}


SECTIONS = [
    ("claude", "ci-cd.md", "Deploying a service", "Push to the main branch; the pipeline builds the image and calls the deploy webhook. Roll back with the previous tag."),
    ("claude", "ci-cd.md", "Runners", "Two runners share the machine; restart them with systemctl when jobs stay pending."),
    ("claude", "dns.md", None, "Split DNS: the internal zone is answered by the local resolver, everything else goes to the provider."),
    ("stack-86000", "notes/ci-cd.md", "Deploying a service", "Here a service is deployed by hand: copy the unit file and reload the daemon."),
    ("stack-86000", "backup.md", "Nightly backups", "The database is dumped every night at three and kept for thirty days."),
]


def index_sections(rem):
    """Two markdown folders with these sections."""
    for namespace, path, section, text in SECTIONS:
        file = rem.scratch / namespace / path
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a") as out:
            out.write(("\n## %s\n\n" % section if section else "") + text + "\n")
    for namespace in sorted({s[0] for s in SECTIONS}):
        rem.run("sync", "add", rem.scratch / namespace, "--namespace", namespace)


def test_sections_are_found_with_their_place_and_a_similarity(rem):
    rem.start()
    index_sections(rem)
    rem.run("remember", "how do we deploy a service: this note is no section")
    door = Door(rem)

    def search(query, **more):
        return door.ask("POST", "/search", {"query": query, **more}).json

    found = search("deploying a service by the pipeline")
    assert [set(f) for f in found] == [{"content", "namespace", "file_source", "section", "similarity"}] * len(found)
    assert (found[0]["namespace"], found[0]["file_source"], found[0]["section"]) == SECTIONS[0][:3]
    assert found[0]["content"] == SECTIONS[0][3]
    everything = search("deploying a service database", threshold=0, limit=100)
    assert [f["similarity"] for f in everything] == sorted((f["similarity"] for f in everything), reverse=True)
    assert all(0 <= f["similarity"] <= 1 for f in everything) and len(everything) >= 3
    assert {f["namespace"] for f in search("deploying a service", threshold=0, namespace="stack-86000")} == {"stack-86000"}
    assert [f["file_source"] for f in search("deploying a service", namespace="stack-86000")] == ["notes/ci-cd.md"]
    assert len(search("deploying a service", threshold=0, limit=1)) == 1
    assert search("a zebra crossing in Paris") == []
    assert search("split-dns resolver")[0]["section"] == "Introduction", "what stands before the first heading"
    assert all(f["similarity"] >= 0.9 for f in search("deploying a service", threshold=0.9))
    refused = door.ask("POST", "/search", {"query": "x", "namespace": "stack"})
    assert refused.status == 404 and refused.json["detail"].endswith("claude, stack-86000")
    stats = door.ask("GET", "/stats").json
    assert (stats["total_chunks"], stats["total_files"]) == (5, 4)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", stats["last_sync"])
