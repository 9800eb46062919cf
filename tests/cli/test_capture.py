"""Capture must not be lost and must not cost."""
import json
import os
import pathlib
import random
import signal
import subprocess
import time

import pytest

from lib import ClaudeSession, wait_for


def test_a_hook_prints_nothing_and_its_event_is_found(rem):
    repo = rem.make_repo()
    s = ClaudeSession(rem, repo)
    assert s.hook("SessionStart", source="startup") == ""
    s.prompt("please teach the zebra parser about stripes")
    s.tool("Bash", {"command": "make test"}, {"stdout": "all 12 tests passed", "stderr": "", "interrupted": False})
    s.reply("The zebra parser now knows stripes; all 12 tests pass.")
    rem.drained()
    hits = wait_for(lambda: rem.json("search", "zebra stripes", "--scope", "messages")["hits"], "the prompt to be searchable")
    assert {h["kind"] for h in hits} >= {"prompt", "reply"}
    assert rem.json("stats")["spool_bad"] == 0


@pytest.mark.parametrize("agent,event,payload", [
    ("claude", "Stop", b"this is not JSON"),
    ("claude", "PostToolUse", b'{"session_id": "x", "tool_na'),
    ("claude", "PostToolUse", b"[" * 200 + b"]" * 200),
    ("claude", "PostToolUse", b'{"session_id": 7, "tool_name": [1], "tool_input": "x", "cwd": false}'),
    ("claude", "UserPromptSubmit", b'{"session_id": "a", "session_id": "b", "prompt": "twice"}'),
    ("claude", "UserPromptSubmit", b'{"session_id": "a", "prompt": "nul \\u0000 lone \\ud800 bad \xff\xfe raw"}'),
    ("claude", "UserPromptSubmit", b""),
    ("claude", "NoSuchEvent", b"{}"),
    ("nobody", "Stop", b"{}"),
    ("../../etc", "a/b c", b"{}"),
])
def test_odd_input_never_hurts_a_session(rem, agent, event, payload):
    done = rem.run("hook", agent, event, input=payload, check=False)
    assert (done.status, done.out) == (0, "")
    rem.start()
    rem.drained()


def test_broken_input_is_kept_in_quarantine_with_its_reason(rem):
    rem.start()
    rem.hook("Stop", b"this is not JSON")
    wait_for(lambda: rem.spool("bad"), "the file to be put aside")
    reasons = [p for p in rem.spool("bad") if p.name.endswith(".reason")]
    assert reasons and reasons[0].read_text().strip()
    doctor = rem.run("--json", "doctor", check=False).json
    assert any("spool" in c["name"] and not c["ok"] for c in doctor["checks"])


def test_a_hook_without_arguments_or_home_still_exits_zero(rem):
    for args in ([], ["claude"], ["claude", "Stop", "extra"]):
        assert rem.run("hook", *args, input=b"{}", check=False).status == 0
    bare = {k: v for k, v in rem.env.items() if k not in ("HOME", "REMANENCE_HOME")}
    done = subprocess.run([str(rem.client), "hook", "claude", "Stop"], input=b"{}", env=bare, capture_output=True, cwd="/")
    assert (done.returncode, done.stdout) == (0, b"")


def test_an_unwritable_folder_never_hurts_a_session(rem):
    blocked = rem.scratch / "file"
    blocked.write_text("")
    done = rem.run("hook", "claude", "Stop", input=b"{}", env={"REMANENCE_HOME": str(blocked / "x")}, check=False)
    assert (done.status, done.out) == (0, "")


def test_a_data_folder_deeper_than_a_socket_path_works(rem):
    deep = rem.scratch / ("d" * 60) / ("e" * 60) / ("f" * 60)
    rem.env["REMANENCE_HOME"] = str(deep)
    rem.home = deep
    rem.start()
    s = ClaudeSession(rem, rem.make_repo())
    s.prompt("a prompt in a deep folder")
    rem.drained()
    assert wait_for(lambda: rem.json("stats", "--project", "all")["events"], "the event")


@pytest.mark.parametrize("name", ["with space", 'quo"te', "new\nline", "ünïcödé 中文", "per%cent"])
def test_odd_project_folders_are_projects(rem, name):
    repo = rem.make_repo(rem.scratch / name)
    s = ClaudeSession(rem, repo)
    s.prompt("remember the odd folder walrus")
    s.reply("The odd folder walrus is remembered now, as was asked.")
    rem.drained()
    sessions = wait_for(lambda: rem.json("sessions", cwd=repo)["sessions"], "the session", limit=20)
    assert sessions[0]["project"] == name


def test_private_parts_and_secrets_reach_no_file(rem):
    repo = rem.make_repo()
    s = ClaudeSession(rem, repo)
    key = "AKIA" + "QZ7KLM3NOPRSTUVW"
    s.prompt("the plain word pelican, <private>the hidden word ocelot</private> and key %s" % key)
    s.reply("Noted pelican. <private>ocelot again, unclosed")
    rem.drained()
    assert wait_for(lambda: rem.json("search", "pelican", "--scope", "messages")["hits"], "the prompt")
    rem.run("stop")
    for path in rem.home.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            assert b"ocelot" not in data and key.encode() not in data, path
    assert rem.json("stats")["redactions"] >= 1


def test_hooks_survive_a_stopped_daemon(rem):
    repo = rem.make_repo()
    pid = rem.start()
    os.kill(pid, signal.SIGSTOP)
    try:
        s = ClaudeSession(rem, repo)
        start = time.monotonic()
        assert s.prompt("asked while the daemon sleeps") == ""
        assert time.monotonic() - start < 10
        assert len(rem.spool()) == 1
    finally:
        os.kill(pid, signal.SIGCONT)
    rem.drained()


def test_a_daemon_that_cannot_start_is_not_started_at_every_hook(rem):
    rem.home.mkdir()
    (rem.home / "remanence.db").mkdir()  # a folder where the database should be
    s = ClaudeSession(rem, rem.make_repo())
    for n in range(5):
        s.tool("Bash", {"command": "true"}, {"stdout": "%d" % n})
    assert len(rem.spool()) == 5
    done = rem.run("search", "x", check=False)
    assert done.status != 0 and "remanence.db" in done.err
    (rem.home / "remanence.db").rmdir()
    rem.run("start")
    rem.drained()
    assert rem.json("stats", "--project", "all")["events"] == 5


def test_killed_at_random_nothing_acknowledged_is_lost(rem):
    """kill -9 of daemon and hooks at random points under load: what a hook acknowledged is there once."""
    repo = rem.make_repo()
    rng = random.Random(11)
    rem.start()
    rounds, acknowledged = int(os.environ.get("REMANENCE_TEST_KILLS", "130")), set()
    big = "x" * 300_000
    for n in range(rounds):
        hooks = []
        for k in range(5):
            use = "toolu_%04d_%d" % (n, k)
            body = json.dumps({"session_id": "killer", "cwd": str(repo), "hook_event_name": "PostToolUse", "tool_name": "Bash",
                               "tool_use_id": use, "tool_input": {"command": "echo %s" % use},
                               "tool_response": {"stdout": big if k == 0 else use}}).encode()
            p = subprocess.Popen([str(rem.client), "hook", "claude", "PostToolUse"], stdin=subprocess.PIPE, env=rem.env, cwd=repo)
            hooks.append((use, p, body))
        victim = rng.randrange(6)
        for i, (use, p, body) in enumerate(hooks):
            if i == victim:
                p.stdin.write(body[: rng.randrange(len(body))])
                p.kill()
                p.wait()
                continue
            p.communicate(body)
            if p.returncode == 0:
                acknowledged.add(use)
        if rng.random() < 0.7:
            time.sleep(rng.random() * 0.03)  # a random point, not a wait for anything
            rem.kill()
    rem.run("start")
    rem.drained()
    session = wait_for(lambda: rem.json("sessions", "--project", "all")["sessions"], "the session")[0]
    keys = [i["key"] for i in rem.json("timeline", session["ref"], "--limit", "100000")["items"] if i["kind"] == "tool"]
    assert len(keys) == len(set(keys))
    assert set(keys) >= acknowledged
    assert rem.json("stats", "--project", "all")["spool_bad"] == 0


def test_a_locked_store_delays_and_loses_nothing(rem):
    import sqlite3
    repo = rem.make_repo()
    s = ClaudeSession(rem, repo)
    rem.start()
    lock = sqlite3.connect(rem.home / "remanence.db", isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    for n in range(5):
        s.tool("Bash", {"command": "true"}, {"stdout": "%d" % n})
    assert len(rem.spool()) == 5
    lock.execute("COMMIT")
    lock.close()
    rem.drained()
    assert rem.json("stats", "--project", "all")["events"] == 5


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
def test_a_full_disk_delays_and_loses_nothing(rem):
    small = rem.scratch / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "none", str(small)], capture_output=True).returncode:
        pytest.skip("cannot mount a tmpfs here")
    try:
        rem.env["REMANENCE_HOME"] = str(small / "r")
        rem.env["XDG_RUNTIME_DIR"] = str(rem.scratch)
        rem.home = small / "r"
        repo = rem.make_repo()
        s = ClaudeSession(rem, repo)
        rem.start()
        fill = small / "fill"
        with open(fill, "wb", buffering=0) as f:
            try:
                while True:
                    f.write(b"x" * 65536)
            except OSError:
                pass
        uses = [s.tool("Bash", {"command": "echo %d" % n}, {"stdout": "y" * 50_000}) for n in range(6)]
        fill.unlink()
        s.tool("Bash", {"command": "true"}, {"stdout": "after"})
        rem.run("stop", check=False)
        rem.run("start")
        rem.drained()
        spare = rem.scratch / "remanence"
        wait_for(lambda: not any(p.is_file() for p in spare.rglob("[0-9]*")) if spare.exists() else True, "the spare folder to be drained")
        session = rem.json("sessions", "--project", "all")["sessions"][0]
        keys = {i["key"] for i in rem.json("timeline", session["ref"], "--limit", "1000")["items"] if i["kind"] == "tool"}
        assert keys >= set(uses)
    finally:
        rem.close()
        subprocess.run(["umount", str(small)])


def test_a_tool_result_of_100_mb_passes_in_64_mb_of_memory(rem):
    repo = rem.make_repo()
    rem.start()
    pid = rem.start()
    body = b'{"session_id":"huge","cwd":%s,"hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":"toolu_huge","tool_input":{"command":"cat big"},"tool_response":{"stdout":"HEADMARK ' % json.dumps(str(repo)).encode()
    body += b"lorem ipsum dolor " * (100 * 1024 * 1024 // 18) + b' TAILMARK"}}'
    rem.hook("PostToolUse", body)
    rem.drained()
    peak = int(next(line for line in pathlib.Path("/proc/%d/status" % pid).read_text().splitlines() if line.startswith("VmHWM")).split()[1])
    session = wait_for(lambda: rem.json("sessions", "--project", "all")["sessions"], "the session")[0]
    item = [i for i in rem.json("timeline", session["ref"])["items"] if i["kind"] == "tool"][0]
    record = rem.json("get", item["ref"])["records"][0]
    assert record["true_size"] > 100 * 1024 * 1024
    assert "HEADMARK" in record["output"] and "TAILMARK" in record["output"]
    if "ASAN_OPTIONS" not in rem.env and "TSAN_OPTIONS" not in rem.env:
        assert peak < 64 * 1024, "%d KB" % peak


def test_two_daemons_of_one_folder_do_not_coexist(rem):
    pid = rem.start()
    second = subprocess.run([str(rem.daemon), "--foreground", "--home", str(rem.home)], env=rem.env, capture_output=True, text=True, timeout=30)
    assert second.returncode != 0 and second.stderr.strip()
    assert rem.start() == pid


def test_stop_returns_when_the_daemon_has_left_and_start_brings_it_back(rem):
    pid = rem.start()
    rem.run("stop")
    assert not pathlib.Path("/proc/%d" % pid).exists() or rem.pid() != pid
    assert not (rem.home / "run" / "socket").exists()
    rem.run("start")
    assert rem.start() != pid


def test_folders_and_files_are_for_the_owner_only(rem):
    s = ClaudeSession(rem, rem.make_repo())
    s.prompt("who may read this")
    rem.drained()
    for path in [rem.home, *rem.home.rglob("*")]:
        mode = path.lstat().st_mode & 0o777
        assert mode & 0o077 == 0, (path, oct(mode))


def test_a_paused_project_is_not_captured_and_import_honours_it(rem):
    repo = rem.make_repo()
    s = ClaudeSession(rem, repo)
    s.prompt("before the pause")
    rem.drained()
    rem.run("pause", "--project", str(repo))
    s.clock = int(time.time() * 1000)
    s.prompt("said during the pause quagga")
    s.reply("answered during the pause quagga")
    rem.drained()
    rem.run("import", s.path)
    assert rem.json("search", "quagga", "--scope", "all", "--project", "all")["hits"] == []
    assert "paus" in rem.run("status").out.lower()
    rem.run("resume", "--project", str(repo))
    time.sleep(0.01)
    s.clock = int(time.time() * 1000) + 5
    s.prompt("after the pause wombat")
    rem.drained()
    assert wait_for(lambda: rem.json("search", "wombat", "--scope", "messages")["hits"], "the prompt after the pause")
