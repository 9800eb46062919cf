"""Review: what waits for a person, decided by key on a terminal or by command; what is decided stays."""
import json
import os
import pty
import re
import select
import signal
import sqlite3
import termios
import time

import pytest

from lib import LIMIT


def pend(rem, *refs, status=1):
    """Makes memories wait, as unsure rules and models do."""
    rem.run("stop")
    db = sqlite3.connect(rem.home / "remanence.db")
    for ref in refs:
        db.execute("UPDATE memory SET status = ?, trust = 2, confidence = 300, origin = 1 WHERE id = ?", (status, int(ref)))
    db.commit()
    db.close()
    rem.run("reindex")


@pytest.fixture
def waiting(rem):
    """Two memories that wait and one that does not."""
    rem.make_repo()
    rem.refs = [rem.json("remember", text)["ref"] for text in
                ("Use pnpm, never npm.", "The importer must not follow symbolic links.", "Deploy on Tuesdays.")]
    pend(rem, *rem.refs[:2])
    return rem


class Terminal:
    """The client on a pseudo-terminal."""

    def __init__(self, rem, *args, env=None):
        pid, self.fd = pty.fork()
        if pid == 0:
            os.chdir(rem.repo)
            os.execve(rem.client, ["remanence", *args], {**rem.env, "TERM": "xterm", **(env or {})})
        self.pid, self.seen = pid, ""
        self.before = termios.tcgetattr(self.fd)

    def until(self, pattern):
        """Reads until the pattern stands in what came since the last call."""
        end = time.monotonic() + LIMIT
        text = ""
        while not re.search(pattern, text):
            assert time.monotonic() < end, "waited for %r, saw %r" % (pattern, text)
            if select.select([self.fd], [], [], 0.2)[0]:
                try:
                    text += os.read(self.fd, 65536).decode("utf-8", "replace")
                except OSError:
                    break
        self.seen += text
        assert re.search(pattern, text), text
        return text

    def type(self, text):
        os.write(self.fd, text.encode())

    def end(self):
        while True:
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                break
            if not data:
                break
            self.seen += data.decode("utf-8", "replace")
        status = os.waitpid(self.pid, 0)[1]
        os.close(self.fd)
        return status


def refs_of(reply):
    return sorted(i["ref"] for i in reply["review"])


def test_what_waits_is_listed_with_its_reason_and_is_given_to_nobody(waiting):
    reply = waiting.json("review")
    assert refs_of(reply) == sorted(waiting.refs[:2]) and reply["total"] == 2
    item = reply["review"][0]
    assert set(item) >= {"ref", "kind", "category", "title", "text", "status", "reason", "confidence", "trust", "origin", "project", "session",
                         "at", "files", "evidence"}
    assert item["status"] == "pending" and "review.threshold" in item["reason"]
    assert "pnpm" not in waiting.json("context")["text"]
    assert waiting.json("search", "pnpm")["hits"] == []
    assert "Tuesdays" in waiting.json("context")["text"]


def test_an_approved_memory_is_active_and_trusted_as_a_persons(waiting):
    ref = waiting.refs[0]
    reply = waiting.json("review", ref, "approve")
    assert reply["ref"] == ref and reply["action"] == "approved" and reply["status"] == "active"
    record = waiting.json("get", ref)["records"][0]
    assert (record["status"], record["trust"], record["confidence"]) == ("active", "person", 1.0)
    assert "pnpm" in waiting.json("context")["text"]
    assert refs_of(waiting.json("review")) == [waiting.refs[1]]


def test_a_rejected_memory_stays_out_and_can_be_taken_back(waiting):
    ref = waiting.refs[0]
    assert waiting.json("review", ref, "reject")["status"] == "rejected"
    assert refs_of(waiting.json("review", "--rejected")) == [ref]
    waiting.run("reindex")
    assert waiting.json("search", "pnpm")["hits"] == [] and "pnpm" not in waiting.json("context")["text"]
    assert waiting.json("review", ref, "approve")["status"] == "active"
    assert waiting.json("search", "pnpm")["hits"][0]["ref"] == ref


def test_an_edited_memory_is_the_persons(waiting):
    ref = waiting.refs[0]
    assert waiting.json("review", ref, "edit", "Use", "yarn,", "never", "npm.")["action"] == "edited"
    record = waiting.json("get", ref)["records"][0]
    assert (record["body"], record["status"], record["origin"]) == ("Use yarn, never npm.", "active", "person")
    assert waiting.json("search", "yarn")["hits"][0]["ref"] == ref


def test_secrets_in_an_edit_are_not_stored(waiting):
    ref = waiting.refs[0]
    waiting.json("review", ref, "edit", "The key is AKIAIOSFODNN7EXAMPLQ, keep it.")
    assert "AKIA" not in json.dumps(waiting.json("get", ref))


@pytest.mark.parametrize("words, status, says", [
    (["REF"], 2, "what to do"), (["REF", "frobnicate"], 2, "approve"), (["REF", "edit"], 2, "text"), (["REF", "approve", "words"], 2, "no text"),
    (["999999", "approve"], 4, "999999"), (["e1", "approve"], 2, "only memories"), (["s1", "reject"], 2, "only memories")])
def test_mistakes_are_answered_with_the_right_form(waiting, words, status, says):
    done = waiting.run("review", *[waiting.refs[0] if w == "REF" else w for w in words], check=False)
    assert done.status == status and says in done.err + done.out


def test_an_empty_review_says_so(rem):
    rem.make_repo()
    assert "Nothing waits" in rem.run("review").out
    assert rem.json("review") == {"review": [], "total": 0, "next_cursor": None}


def test_an_agent_may_not_decide(waiting):
    import http.client
    import socket

    connection = http.client.HTTPConnection("localhost")
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(str(waiting.home / "run" / "socket"))
    connection.request("POST", "/api/review", json.dumps({"ref": waiting.refs[0], "action": "approve"}), {"X-Remanence-Agent": "codex"})
    reply = json.loads(connection.getresponse().read())
    assert reply["error"]["code"] == "usage" and "person" in reply["error"]["message"]
    assert waiting.json("get", waiting.refs[0])["records"][0]["status"] == "pending"


def test_notes_over_mcp_are_the_agents(rem):
    rem.make_repo()
    calls = [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {},
                                                                             "clientInfo": {"name": "codex\r\nX-Evil: 1", "version": "1"}}},
             {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "remember", "arguments": {"text": "The build needs ninja 1.11."}}}]
    for messages in (calls, calls[1:]):  # whether it introduced itself or not
        out = rem.run("mcp", input="".join(json.dumps(c) + "\n" for c in messages)).out
        assert '"isError":true' not in out
    record = rem.json("get", "1")["records"][0]
    assert (record["origin"], record["trust"]) == ("agent", "reply")
    ref = rem.json("remember", "The build needs meson 1.3.")["ref"]
    assert rem.json("get", ref)["records"][0]["trust"] == "person"


def test_one_key_decides_on_a_terminal_and_the_terminal_is_put_back(waiting):
    t = Terminal(waiting, "review")
    card = t.until("quit")
    assert "1 of 2" in card and "symbolic links" in card
    t.type("x\033[Aa")  # neither x nor an arrow key is an answer
    assert "2 of 2" in t.until("(?s)approved.*quit")
    t.type("R")
    assert t.end() == 0
    assert "1 approved" in t.seen and "1 rejected" in t.seen and "nothing waits" in t.seen
    assert waiting.json("get", waiting.refs[1])["records"][0]["status"] == "active"
    assert waiting.json("get", waiting.refs[0])["records"][0]["status"] == "rejected"


@pytest.mark.parametrize("key", ["q", "\x03", "\x04"])
def test_leaving_decides_nothing(waiting, key):
    t = Terminal(waiting, "review")
    t.until("quit")
    t.type("s")
    t.until("(?s)skipped.*quit")
    t.type(key)
    assert t.end() == 0
    assert "1 skipped, 2 waiting" in t.seen
    assert waiting.json("review")["total"] == 2


def test_a_signal_puts_the_terminal_back(waiting):
    t = Terminal(waiting, "review")
    t.until("quit")
    end = time.monotonic() + LIMIT
    while termios.tcgetattr(t.fd)[3] & termios.ICANON and time.monotonic() < end:
        time.sleep(0.01)
    assert not termios.tcgetattr(t.fd)[3] & termios.ECHO
    keeper = os.dup(t.fd)
    os.kill(t.pid, signal.SIGTERM)
    os.waitpid(t.pid, 0)
    assert termios.tcgetattr(keeper)[3] & termios.ICANON and termios.tcgetattr(keeper)[3] & termios.ECHO


def test_editing_takes_the_editor_or_a_line(waiting):
    editor = waiting.scratch / "ed.sh"
    editor.write_text("#!/bin/sh\nsed -i 's/symbolic links/mount points/' \"$2\"\n")
    editor.chmod(0o755)
    t = Terminal(waiting, "review", env={"EDITOR": "%s --wait" % editor})
    t.until("quit")
    t.type("e")
    t.until("(?s)2 of 2.*quit")
    t.type("q")
    assert t.end() == 0
    assert waiting.json("get", waiting.refs[1])["records"][0]["body"] == "The importer must not follow mount points."
    t = Terminal(waiting, "review")
    t.until("quit")
    t.type("e")
    t.until("New text")
    t.type("\n")
    t.until("(?s)Nothing was changed.*quit")
    t.type("e")
    t.until("New text")
    t.type("Use bun.\n")
    assert t.end() == 0
    assert waiting.json("get", waiting.refs[0])["records"][0]["body"] == "Use bun."
    assert not [p for p in (waiting.home / "run").iterdir() if p.name.startswith("review")]


def test_a_suspect_waits_until_a_person_says_that_it_holds(rem):
    rem.make_repo(files={"src/parser.c": "int a;\n"})
    ref = rem.json("remember", "The parser holds one lock.", "--file", "src/parser.c")["ref"]
    rem.start()
    db = sqlite3.connect(rem.home / "remanence.db", timeout=30)
    db.execute("INSERT INTO suspect (memory, file, reason, since) SELECT memory, file, 'parser.c changed since', 1 FROM memory_file WHERE memory = ?",
               (int(ref),))
    db.commit()
    db.close()
    item = rem.json("review")["review"][0]
    assert item["ref"] == ref and item["suspect"] and item["suspect_reason"] and rem.json("review")["total"] == 1
