"""Every event once: hooks and transcripts of the same real sessions, in any order, give one event set."""
import json
import pathlib
import random
import shutil

import pytest

from lib import wait_for

RECORDED = pathlib.Path(__file__).parent.parent / "data" / "recorded"
SESSIONS = sorted(p.name for p in RECORDED.iterdir())


class Recording:
    """A recorded session, copied below the test's user home with its paths rewritten."""

    def __init__(self, rem, name):
        self.rem, self.agent = rem, name.split("-")[0]
        folder = RECORDED / name
        self.target = rem.scratch / "transcripts"
        self.hooks = [json.loads(line) for line in (folder / "hooks.jsonl").read_text().splitlines()]
        old = self._old_folder()
        new = str(self.target)
        for h in self.hooks:
            h["payload"] = json.loads(json.dumps(h["payload"]).replace(old, new)) if old else h["payload"]
        self.folder = folder / "transcripts"

    def _old_folder(self):
        for h in self.hooks:
            path = h["payload"].get("transcript_path")
            if path:
                return str(pathlib.Path(path).parent)
        return None

    def place(self):
        """Puts the transcripts where the hooks say that they are."""
        shutil.copytree(self.folder, self.target, dirs_exist_ok=True)

    def spool(self, hooks):
        """Leaves hooks in the spool as the hook program does, without running it for each."""
        new = self.rem.home / "spool" / "new"
        for n, h in hooks:
            body = json.dumps(h["payload"]).encode()
            head = "remanence-spool 1 %s %s %d %d %s\n" % (self.agent, h["event"], h["at"], len(body), h["cwd"])
            name = "%013d-%d-%08x" % (h["at"], 4000 + n, n)
            tmp = self.rem.home / "spool" / "tmp" / name
            tmp.write_bytes(head.encode() + body)
            tmp.rename(new / name)
        self.rem.knock()

    def read(self):
        self.rem.run("import", self.target)

    def events(self):
        """What the store holds of it, without ids and times."""
        found = []
        for s in self.rem.json("sessions", "--project", "all", "--limit", "1000")["sessions"]:
            items = self.rem.json("timeline", s["ref"], "--project", "all", "--limit", "100000")["items"]
            for i in items:
                if i["kind"] in ("prompt", "reply", "tool", "compaction"):
                    found.append((s["agent_session"], i["kind"], i.get("key") or "", i.get("status") or "", i["title"]))
        return sorted(found)


@pytest.fixture(params=SESSIONS)
def recording(request, rem):
    rem.start()  # makes the folders
    return Recording(rem, request.param)


def settle(rem):
    rem.drained()
    wait_for(lambda: rem.json("stats", "--project", "all")["spool_files"] == 0, "nothing to wait in the spool")


def outcome(recording, steps):
    for step in steps:
        step()
    settle(recording.rem)
    recording.read()
    return recording.events()


def test_any_order_gives_the_same_events(recording, scratch, build):
    from lib import Remanence
    numbered = list(enumerate(recording.hooks))
    name = recording.folder.parent.name

    def fresh(label):
        folder = scratch / ("order-" + label)
        folder.mkdir()
        rem = Remanence(build, folder)
        rem.start()
        return Recording(rem, name)

    recording.place()
    reference = outcome(recording, [])
    assert reference, "the transcript alone gives events"
    keys = [e[:3] for e in reference]
    assert len(keys) == len(set(keys)), "no key twice"

    def hooks_first(r):
        r.spool(numbered)
        settle(r.rem)
        r.place()

    def transcript_first(r):
        r.place()
        r.read()
        r.spool(numbered)

    def interleaved(r):
        order = numbered[:]
        random.Random(7).shuffle(order)
        third = len(order) // 3
        r.spool(order[:third])
        settle(r.rem)
        r.place()
        r.read()
        r.spool(order[third:])

    def replayed(r):
        r.place()
        for _ in range(2):
            r.spool(numbered)
            settle(r.rem)
            r.read()

    def with_holes(r):
        r.spool(numbered[::3])
        settle(r.rem)
        r.place()

    for label, way in (("h", hooks_first), ("t", transcript_first), ("i", interleaved), ("r", replayed), ("o", with_holes)):
        r = fresh(label)
        try:
            got = outcome(r, [lambda: way(r)])
            assert strip(got, r) == strip(reference, recording), way.__name__
        finally:
            r.rem.close()


def strip(events, recording):
    """Snippets may name the test's own folder."""
    return [tuple(str(x).replace(str(recording.target), "T") for x in e) for e in events]


def test_the_event_set_equals_an_independent_count(recording):
    recording.place()
    expected = count_claude(recording.folder) if recording.agent == "claude" else count_codex(recording.folder)
    recording.read()
    got = {}
    for _, kind, *_ in recording.events():
        got[kind] = got.get(kind, 0) + 1
    assert got == expected


def lines_of(folder):
    for path in sorted(folder.rglob("*.jsonl")):
        for line in path.read_text().splitlines():
            yield path, json.loads(line)


def count_claude(folder):
    """By the words of the contract: prompts, replies, tool calls (each id once) and compactions in the transcript's lines."""
    count, tools, ids = {}, set(), set()

    def add(kind, uuid):
        if uuid not in ids:
            ids.add(uuid)
            count[kind] = count.get(kind, 0) + 1

    for _, d in lines_of(folder):
        content = (d.get("message") or {}).get("content") if isinstance(d.get("message"), dict) else None
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
        if d["type"] == "user" and d.get("isCompactSummary"):
            add("compaction", d["uuid"])
            continue
        for b in blocks:
            if b["type"] == "tool_use" and d["type"] == "assistant":
                tools.add(b["id"])
            elif b["type"] == "text" and b["text"].strip() and d["type"] in ("user", "assistant") and not d.get("isMeta") \
                    and not d.get("isApiErrorMessage") and not b["text"].startswith("<local-command-stdout>"):
                add("prompt" if d["type"] == "user" else "reply", d["uuid"])
    if tools:
        count["tool"] = len(tools)
    return count


def count_codex(folder):
    count, calls = {}, set()
    for _, d in lines_of(folder):
        p = d.get("payload") or {}
        item = p.get("item") or {}
        if p.get("type") == "item_completed":
            kind = {"UserMessage": "prompt", "AgentMessage": "reply", "ContextCompaction": "compaction"}.get(item["type"])
            if kind:
                count[kind] = count.get(kind, 0) + 1
        elif p.get("type") in ("function_call", "custom_tool_call"):
            calls.add(p["call_id"])
    if calls:
        count["tool"] = len(calls)
    return count
