"""A handful of units through real model servers with a small real model: it is bad at this, and nothing may be lost or hang for it."""
import pytest

from lib import ClaudeSession, wait_for

# A test may wait for the server to be built.
pytestmark = [pytest.mark.e2e, pytest.mark.timeout(3600)]

WORK = [("Fix the login timeout, people are thrown out after 30 seconds", "session.py", "TIMEOUT = 30", "TIMEOUT = 1800",
         "People stay logged in for half an hour now.\n\nTIMEOUT in session.py was 30 because it was meant in minutes, and the check in expire() "
         "compares it with seconds. I made it 1800 instead of changing expire(), since three other callers pass seconds to it. The tests that "
         "log in and wait all pass, and the one for an expired session was wrong in the same way: it expected 30 and is 1800 now. Whoever adds "
         "another timeout has to give it in seconds; the comment above TIMEOUT says so."),
        ("The export writes dates in two formats, make it one", "export.py", "strftime('%d.%m.%Y')", "isoformat()",
         "All dates of the export are ISO 8601 now.\n\nThe German form came from an old report in export.py that nobody reads any more: "
         "write_row() used strftime and write_head() isoformat, so that sorting by date failed in the second column. I kept isoformat, because "
         "the importer reads nothing else, and took the other form out. Files of before are still read: parse_date() tries both. The 12 tests "
         "of the export pass, with a new one that reads back what was written."),
        ("Add a retry to the upload", "upload.py", "send(data)", "retry(send, data, times=3)",
         "An upload is tried three times.\n\nretry() in upload.py waits 1, 2 and 4 seconds between them. A refusal with status 4xx is not tried "
         "again, since it would be refused again, but 429 is, after what Retry-After says. I put it around send() and not into the client, as "
         "downloads go on where they stopped by themselves. The test server fails twice and then takes the file; all 12 tests pass. What is left to "
         "do: the number of tries is not a setting yet.")]
TRIED = {"ok", "cut", "nothing", "unreadable", "empty"}


def work(rem):
    """A session of three pieces of work, with hooks."""
    s = ClaudeSession(rem, rem.repo)
    for prompt, name, old, new, reply in WORK:
        path = str(rem.repo / name)
        s.prompt(prompt)
        s.tool("Edit", {"file_path": path, "old_string": old, "new_string": new},
               {"filePath": path, "oldString": old, "newString": new,
                "structuredPatch": [{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-" + old, "+" + new]}]})
        s.tool("Bash", {"command": "pytest -q"}, {"stdout": "12 passed", "stderr": "", "interrupted": False})
        s.reply(reply)
    return s


def observe(rem, provider, address):
    rem.make_repo(files={name: old + "\n" for _, name, old, _, _ in WORK})
    rem.env.update({"REMANENCE_OBSERVER_PROVIDER": provider, "REMANENCE_OBSERVER_URL": address, "REMANENCE_OBSERVER_MODEL": "smollm2",
                    "REMANENCE_OBSERVER_MAX_CHARS": "2000", "REMANENCE_OBSERVER_TIMEOUT_MS": "900000", "REMANENCE_OBSERVER_STALL_MS": "600000"})
    work(rem)
    wait_for(lambda: rem.sql("SELECT count(*) FROM job WHERE kind = 1")[0][0] == len(WORK), "all units to be found")
    wait_for(lambda: not rem.sql("SELECT 1 FROM job WHERE kind = 1 AND state < 2"), "all units to be tried", 1800)
    assert not rem.sql("SELECT 1 FROM job WHERE kind = 1 AND attempts = 0")
    calls = rem.sql("SELECT outcome, units, bytes_in, tokens_in, tokens_out, total_ms FROM model_call WHERE kind = 1 ORDER BY id")
    outcomes = rem.json("cost")["outcomes"]
    assert set(outcomes) <= TRIED and sum(outcomes.values()) == len(calls), outcomes
    assert sum(units for _, units, *_ in calls) >= len(WORK)
    assert all(bytes_in > 1000 and total_ms > 0 for _, _, bytes_in, _, _, total_ms in calls), calls
    # No answer of a small model may go on to a limit that was meant for a large one.
    assert all(tokens_out <= 512 * units + 1536 * units for _, units, _, _, tokens_out, _ in calls), calls
    # What the rules found stays, whatever the model says.
    assert rem.sql("SELECT count(*) FROM memory WHERE origin = 1")[0][0] >= len(WORK)


def test_real_units_go_through_a_real_ollama(rem, url):
    observe(rem, "ollama", url)


def test_real_units_go_through_a_real_llama_server(rem, llama):
    observe(rem, "openai", llama)


def test_a_real_llama_server_is_judged_by_eval(rem, llama):
    observe(rem, "openai", llama)
    r = rem.run("--json", "observer", "eval", "--units", "2", timeout=1800).json["models"][0]
    assert r["units"] == 2 and sum(r["outcomes"].values()) == 2 and set(r["outcomes"]) <= TRIED, r
    assert r["tokens_in"] > 500 and r["p50_ms"] > 0, r
