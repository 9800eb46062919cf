"""The model observer at work: whatever its provider does, nothing is lost, nothing is paid or stored twice."""
import json
import os
import re
import sqlite3
import subprocess
import time

import pytest

import model_server
from lib import ClaudeSession, is_zombie, wait_for

UNITS = int(os.environ.get("REMANENCE_TEST_UNITS", "300"))  # of the provider that is dead for the whole time; 10000 in the long run


@pytest.fixture
def model(rem, shared_server):
    """Remanence with a model whose server plays what it is told."""
    shared_server.clear()
    return Model(rem, shared_server)


def answer(*observations, unit=1, facts=(), nothing=""):
    return {"unit": unit, "observations": list(observations), "facts": list(facts), "summary": {}, "nothing": nothing}


def observation(title, narrative="The parser now stops at the end of the line.", type="bugfix"):
    return {"type": type, "title": title, "narrative": narrative, "facts": [], "concepts": [], "files": ["src/parser.c"]}


def units(*answers):
    return json.dumps({"units": list(answers)})


GOOD = units(answer(observation("The parser stops at the end of the line")))


class Model:
    def __init__(self, rem, server):
        self.rem, self.server = rem, server
        self.play("ok", GOOD)
        rem.make_repo(files={"src/parser.c": "int parse(void);\n"})
        rem.env.update({"REMANENCE_OBSERVER_PROVIDER": "openai", "REMANENCE_OBSERVER_URL": server.url + "/live",
                        "REMANENCE_OBSERVER_MODEL": "scripted-1", "REMANENCE_OBSERVER_KEY": "",
                        "REMANENCE_OBSERVER_MAX_CHARS": "2000"})  # no unit is small then: each has a request of its own

    def play(self, behaviour, text=None, texts=()):
        with self.server.lock:
            self.server.state.update({"live": behaviour, "texts": list(texts), **({} if text is None else {"text": text})})

    def asked(self):
        """The requests so far, without questions whether the server is there."""
        return [r for r in self.server.log if r["path"].endswith("completions")]

    def session(self, prompt="Fix the parser: it reads past the end of the line", hook=True, n=1, write=True):
        s = ClaudeSession(self.rem, self.rem.repo)
        if hook:
            s.hook("SessionStart", source="startup")
        for i in range(n):
            self.turn(s, prompt if n == 1 else "%s, part %d" % (prompt, i + 1), hook, i)
        if write:
            s.write()
        return s

    def turn(self, s, prompt, hook=True, i=0, more=0):
        path = str(self.rem.repo / "src" / "parser.c")
        s.prompt(prompt, hook=hook)
        for k in range(more):
            s.tool("Bash", {"command": "make test-%d-%d" % (i, k)}, {"stdout": "%d tests passed" % k, "stderr": ""}, hook=hook)
        s.tool("Edit", {"file_path": path, "old_string": "int parse(void);", "new_string": "int parse(int line%d);" % i},
               {"filePath": path, "oldString": "int parse(void);", "newString": "int parse(int line%d);" % i,
                "structuredPatch": [{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1,
                                     "lines": ["-int parse(void);", "+int parse(int line%d);" % i]}]}, hook=hook)
        s.tool("Bash", {"command": "make test"}, {"stdout": "12 tests passed", "stderr": "", "interrupted": False}, hook=hook)
        s.reply("The parser now stops at the end of the line in case %d.\n\nparse() in src/parser.c read past the end because it never knew the "
                "line: it takes the line%d now, and the loop in it checks both. I gave it the line instead of a global, since two callers "
                "parse at the same time. All 12 tests pass." % (i, i), hook=hook)

    def counts(self):
        return self.rem.json("jobs")["counts"]

    def done(self, n=1):
        """So many units were asked about, and none waits."""
        wait_for(lambda: self.sql("SELECT count(*) FROM job WHERE kind = 1 AND state = 2 AND attempts > 0")[0][0] >= n and
                 not self.sql("SELECT count(*) FROM job WHERE kind = 1 AND state < 2")[0][0], "%d units to be done" % n)

    def dead(self, n=1):
        wait_for(lambda: self.counts()["dead"] >= n, "%d jobs to be dead" % n)

    def observer(self):
        return self.rem.json("status")["observer"]

    def sql(self, query, *args):
        wait_for(lambda: (self.rem.home / "remanence.db").exists(), "the store")
        return self.rem.sql(query, *args)

    def write(self, query, *args):
        """Into the store of a daemon that has left."""
        with sqlite3.connect(self.rem.home / "remanence.db", timeout=30) as db:
            db.execute(query, args)

    def made(self):
        """Memories of the model, as (id, turn, status)."""
        return self.sql("SELECT id, turn, status FROM memory WHERE origin = 2 ORDER BY id")

    def outcomes(self):
        return self.rem.json("cost")["outcomes"]


def test_a_turn_is_sent_once_and_its_memory_stands_for_that_of_the_rules(model):
    model.session()
    model.done()
    assert len(model.asked()) == 1
    hits = model.rem.json("search", "parser", "--scope", "memories", "--limit", "50")["hits"]
    ours = [h for h in hits if h["title"] == "The parser stops at the end of the line" and h["kind"] == "observation"]
    assert len(ours) == 1, hits
    record = model.rem.json("get", ours[0]["ref"])["records"][0]
    assert record["origin"] == "model" and record["model"] == model_server.MODEL
    superseded = model.sql("SELECT id FROM memory WHERE superseded_by = ?", int(ours[0]["ref"]))
    assert len(superseded) == 1
    old = model.rem.json("get", str(superseded[0][0]))["records"][0]
    assert old["status"] == "superseded" and old["superseded_by"] == ours[0]["ref"]


def test_hooks_live_and_an_import_later_cost_one_set_of_requests(model):
    s = model.session(n=2)
    s.hook("SessionEnd", reason="exit")
    model.done(2)
    wait_for(lambda: model.sql("SELECT 1 FROM job WHERE kind = 2 AND state = 2"), "the summary of the session")
    wait_for(lambda: not model.counts()["waiting"] + model.counts()["running"], "all to be done")
    before, asked = model.made(), len(model.asked())
    model.rem.run("import", model.rem.user_home / ".claude" / "projects")
    model.rem.run("import", model.rem.user_home / ".claude" / "projects")
    model.done(2)
    assert len(model.asked()) == asked
    assert model.made() == before


def test_a_turn_that_goes_on_is_sent_again_and_replaces_what_was_made(model):
    s = model.session()
    model.done()
    first = model.made()
    s.prompt_id = s.lines[0]["promptId"]
    s.reply("One more thing about this turn: parse() in src/parser.c now takes the line, since the end was not known before.", hook=False)
    s.write()
    model.play("ok", units(answer(observation("parse() takes the line"))))
    model.rem.run("import", s.path)
    wait_for(lambda: len(model.asked()) == 2, "the turn to be sent again")
    model.done()
    assert len(model.made()) == len(first)


def test_nothing_durable_is_an_answer(model):
    model.play("ok", units(answer(nothing="only a status check")))
    model.session()
    model.done()
    assert model.made() == [] and model.outcomes() == {"nothing": 1}


@pytest.mark.parametrize("text, outcome", [("", "empty"), ("The work was fine and I have no remarks on it at all, thanks.", "unreadable"),
                                           ("<think>hmm, let me see", "empty")])
def test_an_answer_that_cannot_be_read_is_asked_for_once_more_shorter_and_stricter(model, text, outcome):
    model.play("ok", text)
    model.session()
    model.dead()
    assert len(model.asked()) == 2 and model.outcomes() == {outcome: 2}
    job = model.rem.json("jobs", "--dead")["jobs"][0]
    assert job["state"] == "dead" and job["last_error"].startswith(outcome)
    first, second = (json.loads(r["body"]) for r in model.asked())
    assert second["messages"][-1]["content"] != first["messages"][-1]["content"]
    assert model.observer()["state"] == "closed"
    # Tried again by hand when the model is better.
    model.play("ok", GOOD)
    assert model.rem.json("jobs", "retry", "all")["waiting_again"] == 1
    model.done()
    assert len(model.made()) == 1


def test_the_second_answer_counts(model):
    model.play("ok", GOOD, texts=["no idea what you want from me here"])
    model.session()
    model.done()
    assert model.outcomes() == {"unreadable": 1, "ok": 1} and len(model.made()) == 1


def test_a_refusal_is_not_asked_for_again(model):
    model.play("refusal")
    model.session()
    model.dead()
    assert len(model.asked()) == 1 and model.outcomes() == {"refused": 1}


FAILING = ["error-500", "page-502", "reset", "busy", "overloaded", "reset-middle", "page", "alien", "bad-gzip"]


@pytest.mark.parametrize("behaviour", FAILING)
def test_after_a_failure_of_the_provider_the_unit_waits_and_is_stored_once(model, behaviour):
    model.play(behaviour)
    model.session()
    wait_for(lambda: model.asked(), "a request")
    wait_for(lambda: model.counts()["waiting"] == 1, "the job to wait again")
    assert model.made() == [] and not model.counts()["dead"]
    model.play("ok", GOOD)
    model.done()
    assert len(model.made()) == 1


def test_three_failures_in_a_row_open_the_breaker_and_a_probe_closes_it(model):
    model.play("error-500")
    model.session(n=3)
    wait_for(lambda: model.observer()["state"] in ("open", "half-open"), "the breaker to open")
    asked = len(model.asked())
    assert "server" in model.observer()["trouble"]
    model.play("ok", GOOD)
    wait_for(lambda: model.observer()["state"] == "closed", "the breaker to close")
    model.done(3)
    assert len(model.asked()) > asked and not model.counts()["dead"]


@pytest.mark.parametrize("behaviour, outcome", [("quota", "quota"), ("auth", "auth"), ("model-unknown", "setup"), ("payment", "quota")])
def test_what_waiting_does_not_mend_pauses_and_is_said(model, behaviour, outcome):
    model.play(behaviour)
    model.session(n=2)
    wait_for(lambda: model.observer()["state"] == "paused", "the pause")
    assert model.observer()["why"] == outcome
    asked = len(model.asked())
    assert asked == 1 and model.counts()["waiting"] >= 1 and not model.counts()["dead"]
    checks = {c["name"]: c for c in model.rem.json("doctor", check=False)["checks"]}
    assert not checks["model"]["ok"] and outcome in checks["model"]["detail"]
    log = (model.rem.home / "log" / "daemon.log").read_text()
    assert log.count("the model observer is paused") == 1
    s = ClaudeSession(model.rem, model.rem.repo)
    assert ("paused (%s)" % outcome) in s.hook("SessionStart", source="startup")
    # A test by hand that goes well ends the pause.
    model.play("ok", GOOD)
    assert model.rem.json("observer", "test")["ok"]
    model.done(2)
    assert len(model.made()) == 2


def test_a_rate_limit_waits_as_long_as_the_server_says_and_counts_against_nobody(model):
    model.play("rate-ms")
    model.session()
    wait_for(lambda: model.outcomes().get("rate_limit"), "the rate limit")
    model.play("ok", GOOD)
    assert model.observer()["state"] == "closed"
    model.done()
    assert model.sql("SELECT attempts FROM job WHERE kind = 1") == [(1,)] and len(model.made()) == 1


def test_small_units_share_a_request_and_each_gets_its_own(model):
    model.rem.env["REMANENCE_OBSERVER_PROVIDER"] = "none"
    model.session(n=4, hook=False)
    model.rem.run("import", model.rem.user_home / ".claude" / "projects")
    model.rem.run("stop")
    model.rem.env.update({"REMANENCE_OBSERVER_PROVIDER": "openai", "REMANENCE_OBSERVER_MAX_CHARS": "24000"})
    model.play("ok", units(*[answer(observation("Case of unit %d" % (i + 1)), unit=i + 1) for i in range(4)]))
    model.rem.start()
    model.done(4)
    wait_for(lambda: len(model.made()) >= 4, "four memories")
    turns = [turn for _, turn, _ in model.made() if turn]
    assert len(set(turns)) == 4
    observe = model.sql("SELECT units FROM model_call WHERE kind = 1")
    assert observe == [(4,)], observe
    saved = model.rem.json("cost")["saved"]
    assert saved["requests"] == 3 and saved["shared_tokens"] > 0


def test_units_that_an_answer_cut_off_did_not_reach_are_asked_for_alone(model):
    model.rem.env["REMANENCE_OBSERVER_PROVIDER"] = "none"
    model.session(n=2, hook=False)
    model.rem.run("import", model.rem.user_home / ".claude" / "projects")
    model.rem.run("stop")
    model.rem.env.update({"REMANENCE_OBSERVER_PROVIDER": "openai", "REMANENCE_OBSERVER_MAX_CHARS": "24000"})
    whole = units(answer(observation("Case of the first"), unit=1), answer(observation("Case of the second"), unit=2))
    model.play("ok", GOOD, texts=[whole[:whole.index("Case of the second")]])
    model.rem.start()
    model.done(2)
    assert [u for u, in model.sql("SELECT units FROM model_call WHERE kind = 1 ORDER BY id")] == [2, 1]


def test_the_days_budget_stops_and_says_so(model):
    model.rem.env["REMANENCE_OBSERVER_DAILY_TOKENS"] = "100"
    model.session(n=3)
    wait_for(lambda: model.observer()["trouble"], "the budget to be used up")
    assert "daily_tokens" in model.observer()["trouble"]
    assert len(model.asked()) == 1
    today = model.rem.json("cost")["today"]
    assert today["is_used_up"] and today["tokens_left"] == 0
    assert model.counts()["waiting"] >= 2


def test_money_is_counted_by_the_prices_and_stops_too(model):
    model.rem.env.update({"REMANENCE_OBSERVER_DAILY_COST": "0.01", "REMANENCE_OBSERVER_PRICE_IN": "1000"})
    model.session(n=2)
    wait_for(lambda: "daily_cost" in (model.observer()["trouble"] or ""), "the budget to be used up")
    cost = model.rem.json("cost")
    assert cost["cost"] == pytest.approx(0.12) and cost["projects"][0]["project"] == "repo"  # 120 tokens in, the server says
    assert cost["models"][0]["model"] == "openai " + model_server.MODEL


def test_a_request_under_way_is_given_up_when_the_daemon_leaves_and_done_by_the_next(model):
    model.play("slow-headers")
    model.session()
    wait_for(lambda: model.asked(), "the request")
    model.rem.run("stop")
    assert model.sql("SELECT outcome FROM model_call") == [(8,)]  # aborted
    model.play("ok", GOOD)
    model.rem.start()
    model.done()
    assert len(model.made()) == 1 and model.sql("SELECT attempts FROM job WHERE kind = 1") == [(1,)]
    model.server.gate.set()
    model.server.gate.clear()


def test_an_attempt_cut_by_kill_is_repeated_counted_and_stored_once(model):
    model.play("slow-headers")
    model.session()
    wait_for(lambda: model.asked(), "the request")
    model.rem.kill()
    model.play("ok", GOOD)
    model.rem.start()
    model.done()
    assert len(model.made()) == 1 and len(model.asked()) == 2
    assert model.outcomes() == {"aborted": 1, "ok": 1}
    model.server.gate.set()
    model.server.gate.clear()


def test_what_a_person_rejects_makes_way_for_the_memory_of_the_rules(model):
    model.session()
    model.done()
    ref = str(model.made()[0][0])
    rule = model.sql("SELECT id FROM memory WHERE superseded_by = ?", int(ref))[0][0]
    model.rem.run("review", ref, "reject")
    assert model.rem.json("get", str(rule))["records"][0]["status"] == "active"


def test_forgetting_takes_what_the_model_made_and_every_raw_answer(model):
    model.session()
    model.done()
    assert model.sql("SELECT count(*) FROM model_call WHERE reply IS NOT NULL") == [(1,)]
    model.rem.run("forget", str(model.made()[0][0]), "--yes")
    assert model.made() == []
    assert model.sql("SELECT count(*) FROM model_call WHERE reply IS NOT NULL") == [(0,)]


def test_a_cheap_turn_never_reaches_the_model(model):
    s = ClaudeSession(model.rem, model.rem.repo)
    s.prompt("thanks")
    s.reply("You are welcome.")
    wait_for(lambda: model.counts()["done"], "the turn to be looked at")
    assert model.asked() == [] and model.rem.json("cost")["saved"]["skipped_units"] == 1


def test_a_session_that_ended_gets_a_summary_of_its_units(model):
    summary = json.dumps({"title": "The parser reads lines to their end", "request": "Fix the parser", "investigated": "",
                          "learned": "", "completed": "The parser stops at the end of the line.", "next_steps": "", "notes": ""})
    s = model.session(n=2)
    model.done(2)
    model.play("ok", summary)
    s.hook("SessionEnd", reason="exit")
    wait_for(lambda: [m for m in model.made() if m[1] is None], "the summary")
    ref = [m for m in model.made() if m[1] is None][0][0]
    record = model.rem.json("get", str(ref))["records"][0]
    assert record["kind"] == "summary" and "end of the line" in record["completed"]


def test_the_summary_of_a_very_long_session_is_made_of_its_first_and_its_newest_units(model):
    model.rem.env["REMANENCE_OBSERVER_MAX_CHARS"] = "24000"
    n = 210
    model.play("ok", units(*[answer(nothing="seen before", unit=i + 1) for i in range(6)]))
    s = model.session(n=n, hook=False)
    model.rem.run("import", model.rem.user_home / ".claude" / "projects")
    model.done(n)
    s.hook("SessionEnd", reason="exit")
    wait_for(lambda: model.sql("SELECT 1 FROM job WHERE kind = 2 AND state = 2"), "the summary to be done")
    shown = json.loads(model.asked()[-1]["body"])["messages"][-1]["content"]
    assert "some left out" in shown
    told = [int(k) for k in re.findall(r"part (\d+)\b", shown)]
    assert told[0] == 1 and told[-1] == n and told == sorted(told), told


def test_a_summary_without_a_word_in_it_says_that_there_is_nothing(model):
    s = model.session(n=2)
    model.done(2)
    model.play("ok", json.dumps({k: "" for k in ("title", "request", "investigated", "learned", "completed", "next_steps", "notes")}))
    s.hook("SessionEnd", reason="exit")
    wait_for(lambda: model.sql("SELECT 1 FROM job WHERE kind = 2 AND state = 2"), "the summary to be done")
    assert len(model.asked()) == 3 and model.outcomes() == {"ok": 2, "nothing": 1} and not model.counts()["dead"]
    assert not [m for m in model.made() if m[1] is None]


def test_jobs_are_dropped_and_listed(model):
    model.play("refusal")
    model.session()
    model.dead()
    ref = model.rem.json("jobs")["jobs"][0]["ref"]
    assert model.rem.json("jobs", "drop", ref)["dropped"] == 1
    assert model.rem.json("jobs")["jobs"] == []
    assert model.rem.run("jobs", "drop", ref, check=False).status == 4
    assert model.rem.run("jobs", "drop", "nonsense", check=False).status == 2


def test_observer_test_shows_what_came_and_stores_nothing(model):
    model.rem.env["REMANENCE_OBSERVER_PROVIDER"] = "none"
    model.session()
    model.rem.run("stop")
    model.rem.env["REMANENCE_OBSERVER_PROVIDER"] = "openai"
    model.play("error-500")
    r = model.rem.json("observer", "test")
    assert not r["ok"] and r["outcome"] == "server" and r["advice"]
    wait_for(lambda: model.observer()["state"] != "closed" or model.counts()["waiting"], "the backlog")
    model.play("ok", GOOD)
    r = model.rem.json("observer", "test")
    assert r["ok"] and r["memories"][0]["title"] == "The parser stops at the end of the line"
    assert r["request_bytes"] > r["unit_bytes"] > 0 and r["total_ms"] >= r["first_byte_ms"] >= 0
    assert "verdict" in r
    shown = model.rem.run("observer", "test").out
    assert "The parser stops at the end of the line" in shown and "the model works" in shown


def test_observer_eval_puts_two_models_side_by_side(model):
    model.session(n=3)
    model.done(3)
    texts = [units(answer(observation("The user ran it", narrative="The user changed 47 files in src/other.c.", type="musing"))), GOOD, GOOD]
    model.play("ok", GOOD, texts=texts)
    before = model.made()
    r = model.rem.json("observer", "eval", "--units", "3", "--model", "other-1")
    assert [m["model"] for m in r["models"]] == ["scripted-1", "other-1"]
    first, second = r["models"]
    assert first["units"] == 3 and first["types_outside"] == pytest.approx(1 / 3, abs=.01)
    assert first["user_first"] > 0 and second["user_first"] == 0 and first["unsupported"] > second["unsupported"]
    assert second["duplicate_titles"] == pytest.approx(2 / 3, abs=.01)
    assert first["queue_p50_ms"] is None and 0 <= first["first_byte_p50_ms"] <= first["p50_ms"] <= first["p90_ms"] <= first["max_ms"]
    table = model.rem.run("observer", "eval", "--units", "1").out
    assert "first byte, median" in table and "queue wait" not in table and "cost" not in table  # nobody tells of a queue or a price
    assert model.made() == before
    model.rem.json("observer", "eval", "--units", "3", "--model", "other-1")
    assert {json.loads(q["body"])["model"] for q in model.asked()[-3:]} == {"other-1"}


def test_an_eval_that_a_leaving_daemon_ends_tells_what_it_found_and_pays_nothing_twice(model):
    model.session(n=3)
    model.done(3)
    asked = len(model.asked())
    model.play("gated", GOOD)
    trying = subprocess.Popen([str(model.rem.client), "observer", "eval", "--units", "3"], env=model.rem.env, cwd=model.rem.repo,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for(lambda: len(model.asked()) == asked + 1, "the first request of the trial")
    model.server.gate.set()
    model.server.gate.clear()
    wait_for(lambda: len(model.asked()) == asked + 2, "the second request of the trial")
    assert model.rem.json("stop")["stopped"]
    out, err = trying.communicate(timeout=60)
    assert "The daemon was told to leave before all 3 units were tried." in out and re.search(r"^units +1$", out, re.M), (out, err)
    assert len(model.asked()) == asked + 2


def test_what_could_not_be_used_is_told_with_a_reason(model):
    model.session()
    model.done()
    model.play("error-500")
    out = model.rem.run("observer", "eval", "--units", "1").out
    assert "none of 1 answers could be used" in out and "the last that failed: 127.0.0.1" in out and "read as" not in out


@pytest.mark.parametrize("action", ["test", "eval"])
def test_a_daemon_that_is_told_to_leave_gives_up_the_model_that_is_tried(model, action):
    model.session()
    model.done()
    asked = len(model.asked())
    model.play("slow-headers")
    trying = subprocess.Popen([str(model.rem.client), "observer", action], env=model.rem.env, cwd=model.rem.repo, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
    wait_for(lambda: len(model.asked()) > asked, "the request of the trial")
    model.play("ok", GOOD)
    assert model.rem.json("stop")["stopped"]
    out, err = trying.communicate(timeout=60)
    assert {"test": "the model works", "eval": "answers that could be used"}[action] in out, (out, err)  # by the next daemon
    assert model.sql("SELECT count(*) FROM model_call WHERE kind = 4 AND outcome = 8") == [(1,)]
    model.server.gate.set()
    model.server.gate.clear()


def test_without_a_provider_nothing_is_sent_and_no_job_waits(model):
    model.rem.env["REMANENCE_OBSERVER_PROVIDER"] = "none"
    model.session()
    wait_for(lambda: model.rem.json("stats")["memories"]["observation"], "the rules' memory")
    assert model.rem.json("jobs")["jobs"] == [] and model.asked() == []
    assert model.rem.run("observer", "test", check=False).status == 2


def test_an_agent_that_is_asked_as_a_model_is_never_captured(model):
    program = model.rem.scratch / "agent"
    seen = model.rem.scratch / "seen"
    program.write_text("#!/bin/sh\ncat > %s\n%s hook claude UserPromptSubmit < %s\npwd >> %s\nenv >> %s\ncat %s\n" % (
        seen, model.rem.client, model.rem.scratch / "hook.json", seen, seen, model.rem.scratch / "answer.json"))
    program.chmod(0o755)
    (model.rem.scratch / "answer.json").write_text(GOOD)
    other = ClaudeSession(model.rem, model.rem.repo)
    (model.rem.scratch / "hook.json").write_text(json.dumps(other.base("UserPromptSubmit", prompt="You write memories")))
    model.rem.env.update({"REMANENCE_OBSERVER_PROVIDER": "command", "REMANENCE_OBSERVER_URL": str(program)})
    model.session()
    model.done()
    assert len(model.made()) == 1
    said = seen.read_text()
    assert "REMANENCE_OBSERVER=1" in said and "unit 1" in said
    folder = [line for line in said.splitlines() if line.endswith("/run/remanence-observer")][0]
    # Not by its hooks, nor by a transcript that it wrote all the same.
    own = ClaudeSession(model.rem, folder)
    own.prompt("=== unit 1 ===", hook=False)
    own.reply(GOOD, hook=False)
    own.write()
    model.rem.run("import", own.path)
    assert len(model.rem.json("sessions", "--project", "all")["sessions"]) == 1


def run_sample(model):
    """The daily sample now, by the next daemon: its day is over."""
    wait_for(lambda: model.sql("SELECT 1 FROM job WHERE kind = 3"), "the job of the sample")
    before = model.sql("SELECT count(*) FROM model_call WHERE kind = 3")[0][0]
    model.rem.run("stop")
    model.write("UPDATE job SET run_after = 1 WHERE kind = 3")
    model.rem.start()
    wait_for(lambda: model.sql("SELECT count(*) FROM model_call WHERE kind = 3")[0][0] == before + 3 and
             model.sql("SELECT 1 FROM job WHERE kind = 3 AND state = 0 AND run_after > ?", int(time.time() * 1000) + 23 * 3600_000),
             "the sample of three units to be asked")


def test_a_daily_sample_that_went_bad_is_said_and_one_that_went_well_ends_that(model):
    model.session(n=4)
    model.done(4)
    made = model.made()

    def said():
        checks = {c["name"]: c for c in model.rem.json("doctor", check=False)["checks"]}
        line = ClaudeSession(model.rem, model.rem.repo).hook("SessionStart", source="startup")
        return (checks["model"]["ok"], checks["model"]["detail"], line.count("The model observer got worse"),
                "The model got worse" in model.rem.run("status").out)

    run_sample(model)
    assert said() == (True, "openai scripted-1", 0, False) and model.observer()["degraded"] is None
    model.play("ok", "I have no remarks on this work, it is all as it should be, thanks.")
    run_sample(model)
    bad = "none of 3 answers could be used"
    wait_for(lambda: model.observer()["degraded"] == bad, "the sample to be judged")
    assert said() == (False, "openai scripted-1 got worse: " + bad, 1, True)
    # The next daemon knows it, without asking again; a session that goes on is not told twice.
    model.rem.run("stop")
    model.rem.start()
    wait_for(lambda: model.observer()["degraded"] == bad, "the sample's result to be known")
    assert "got worse" not in ClaudeSession(model.rem, model.rem.repo).hook("SessionStart", source="resume")
    model.play("ok", GOOD)
    run_sample(model)
    wait_for(lambda: model.observer()["degraded"] is None, "the complaint to end")
    assert said() == (True, "openai scripted-1", 0, False)
    assert model.made() == made and model.counts()["waiting"] + model.counts()["running"] <= 1  # the summary of the session may wait


@pytest.mark.parametrize("parallel", [2, 4])
def test_several_requests_at_once_are_as_many_as_the_setting_says_and_each_unit_is_stored_once(model, parallel):
    model.rem.env["REMANENCE_OBSERVER_PARALLEL"] = str(parallel)
    model.play("gated", GOOD)
    model.session(n=6, hook=False)
    model.rem.run("import", model.rem.user_home / ".claude" / "projects")
    wait_for(lambda: len(model.asked()) == parallel, "%d requests at once" % parallel)
    wait_for(lambda: model.counts()["running"] == parallel, "as many jobs to run")
    assert model.observer()["running"] == parallel
    assert model.sql("SELECT count(*) FROM job WHERE kind = 1 AND state = 0") == [(6 - parallel,)]
    assert model.rem.json("cost")["days"][0]["failed"] == 0  # what is under way did not fail
    model.play("ok")
    model.server.gate.set()
    model.server.gate.clear()
    model.done(6)
    assert model.sql("SELECT attempts, count(*) FROM job WHERE kind = 1 GROUP BY attempts") == [(1, 6)]
    turns = [turn for _, turn, _ in model.made() if turn]
    assert len(turns) == len(set(turns)) == 6


def test_a_unit_that_fails_while_others_do_not_is_given_up_retried_and_dropped_by_hand(model):
    model.play("error-500")
    model.session()
    wait_for(lambda: model.sql("SELECT 1 FROM job WHERE kind = 1 AND state = 0 AND attempts = 1"), "the first attempt to fail")
    model.rem.run("stop")
    model.write("UPDATE job SET attempts = 7, run_after = 1 WHERE kind = 1")
    model.rem.start()
    model.dead()
    job = model.rem.json("jobs", "--dead")["jobs"][0]
    assert job["last_error"].startswith("given up after 8 attempts; the last: server")
    assert "given up after 8 attempts" in model.rem.run("jobs", "--dead").out
    assert model.made() == [] and model.rem.json("stats")["memories"]["observation"]  # that of the rules
    # By hand once more: it has all its attempts again.
    model.play("ok", GOOD)
    assert model.rem.json("jobs", "retry", job["ref"])["waiting_again"] == 1
    model.done()
    assert len(model.made()) == 1 and not model.counts()["dead"]
    model.play("refusal")
    model.session(prompt="Fix the parser once more")
    model.dead()
    dead = model.rem.json("jobs", "--dead")["jobs"]
    assert model.rem.json("jobs", "drop", dead[0]["ref"])["dropped"] == 1
    assert model.rem.json("jobs", "--dead")["jobs"] == [] and model.rem.json("jobs", "retry", "all")["waiting_again"] == 0


def gone(pid):
    return not os.path.exists("/proc/%d" % pid) or is_zombie(pid)


def test_an_idle_daemon_leaves_jobs_waiting_for_a_provider_that_is_away_and_the_next_one_does_them(model):
    model.rem.env["REMANENCE_DAEMON_IDLE_MINUTES"] = "0.02"
    model.play("reset")
    model.session(n=3, hook=False)
    pid = model.rem.start()
    model.rem.run("import", model.rem.user_home / ".claude" / "projects")
    wait_for(lambda: gone(pid), "the daemon to leave")
    assert "leaving: nobody used the daemon" in (model.rem.home / "log" / "daemon.log").read_text()
    assert model.sql("SELECT state, count(*) FROM job WHERE kind = 1 GROUP BY state") == [(0, 3)]
    del model.rem.env["REMANENCE_DAEMON_IDLE_MINUTES"]  # each waits some seconds of its own after it failed
    model.play("ok", GOOD)
    model.rem.start()
    model.done(3)
    assert len([turn for _, turn, _ in model.made() if turn]) == 3


def test_a_daemon_that_nobody_uses_stays_until_the_jobs_are_done(model):
    model.rem.env["REMANENCE_DAEMON_IDLE_MINUTES"] = "0.01"
    model.play("queued", GOOD)  # half a second each, several times as long as the daemon stays for nothing
    model.session(n=8, hook=False)
    pid = model.rem.start()
    model.rem.run("import", model.rem.user_home / ".claude" / "projects")
    model.done(8)  # looks into the store alone
    log = (model.rem.home / "log" / "daemon.log").read_text()
    assert log.count("serving '") == 1
    wait_for(lambda: gone(pid), "the daemon to leave when all is done")


def test_raw_answers_go_after_their_days_and_none_is_kept_where_none_is_wanted(model):
    model.session(n=2)
    model.done(2)
    assert model.sql("SELECT count(*) FROM model_call WHERE reply IS NOT NULL") == [(2,)]
    model.rem.run("stop")
    old = int(time.time() * 1000) - 8 * 86400_000
    model.write("UPDATE model_call SET at = ? WHERE id = (SELECT min(id) FROM model_call)", old)
    model.rem.env["REMANENCE_OBSERVER_REPLIES_DAYS"] = "7"
    model.rem.start()
    wait_for(lambda: model.sql("SELECT count(*) FROM model_call WHERE reply IS NOT NULL") == [(1,)], "the old answer to go")
    assert model.sql("SELECT count(*) FROM model_call") == [(2,)]  # what it cost stays
    model.rem.run("stop")
    model.rem.env["REMANENCE_OBSERVER_REPLIES_DAYS"] = "0"
    model.rem.start()
    model.session(prompt="Fix the parser once more")
    model.done(3)
    wait_for(lambda: model.sql("SELECT count(*) FROM model_call WHERE reply IS NOT NULL") == [(0,)], "the other answer to go")
    assert len(model.made()) == 3


def test_with_the_provider_dead_all_units_are_there_memory_is_flat_and_then_each_is_done_once(model):
    """Killed at random meanwhile. UNITS units, all from an import."""
    model.play("reset")
    model.rem.env["REMANENCE_OBSERVER_MAX_CHARS"] = "24000"
    model.rem.env["REMANENCE_OBSERVER_DAILY_TOKENS"] = "0"
    per = 20
    for i in range(UNITS // per):
        model.session(prompt="Fix the parser for case %d" % i, n=per, hook=False)
    model.rem.run("import", model.rem.user_home / ".claude" / "projects", timeout=1800)
    wait_for(lambda: model.sql("SELECT count(*) FROM job WHERE kind = 1")[0][0] == UNITS, "all jobs", 600)
    sizes = []
    asked = 0
    for i in range(6):
        # Asking starts a daemon where the client held back after so many starts.
        wait_for(lambda: model.counts() and len(model.asked()) > asked, "another attempt")
        sizes.append(model.rem.json("status")["rss_anon_bytes"])
        model.rem.kill()
        asked = len(model.asked())
        model.rem.start()
    assert model.counts()["waiting"] + model.counts()["running"] >= UNITS and not model.counts()["dead"]
    # They were looked at in the middle of whatever they did: none of the later ones, with the whole backlog, took more than the first with its import.
    assert max(sizes[1:]) < sizes[0] * 1.5 + (16 << 20), sizes
    model.play("ok", units(*[answer(observation("Case of unit %d" % (i + 1)), unit=i + 1) for i in range(6)]))
    model.rem.kill()
    model.rem.start()
    wait_for(lambda: model.counts() and not model.sql("SELECT count(*) FROM job WHERE kind = 1 AND state <> 2")[0][0], "the backlog to drain", 60 + UNITS / 4)
    assert model.sql("SELECT count(*) FROM job WHERE kind = 1 AND attempts > 0") == [(UNITS,)]
    assert model.sql("SELECT count(*) FROM (SELECT turn FROM memory WHERE origin = 2 AND turn IS NOT NULL GROUP BY turn HAVING count(*) > 1)") == [(0,)]
    assert model.sql("SELECT sum(units) FROM model_call WHERE kind = 1 AND outcome = 1") == [(UNITS,)]


def test_tokens_grow_with_the_length_of_a_session_and_not_faster(model):
    """What a unit costs does not depend on how much came before it."""
    model.rem.env["REMANENCE_OBSERVER_DAILY_TOKENS"] = "0"
    n = 60
    model.session(n=n, hook=False)
    model.rem.run("import", model.rem.user_home / ".claude" / "projects")
    model.done(n)
    sizes = [b for b, in model.sql("SELECT c.bytes_in FROM model_call c JOIN job j ON j.id = c.job WHERE c.kind = 1 ORDER BY j.at")]
    assert len(sizes) == n and max(sizes[-10:]) < 1.3 * max(sizes[:10]), sizes


def test_a_model_that_is_set_later_takes_up_the_history_newest_first(model):
    model.rem.env["REMANENCE_OBSERVER_PROVIDER"] = "none"
    for i in range(3):
        model.session(prompt="Fix the parser for file %d" % i, hook=False)
    model.rem.run("import", model.rem.user_home / ".claude" / "projects")
    assert model.rem.json("jobs")["jobs"] == []
    model.rem.run("stop")
    model.rem.env["REMANENCE_OBSERVER_PROVIDER"] = "openai"
    model.rem.start()
    model.done(3)
    assert len(model.asked()) == 3
