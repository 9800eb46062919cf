"""Coming and going of the daemon: upgrades, leaving under load, a read-only disk; and setting up and taking away."""
import fcntl
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import threading

import pytest

from lib import ClaudeSession, Remanence, wait_for


def tool_body(repo, use):
    return json.dumps({"session_id": "loader", "cwd": str(repo), "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": use,
                       "tool_input": {"command": "true"}, "tool_response": {"stdout": use}}).encode()


def keys_of(rem):
    session = wait_for(lambda: rem.json("sessions", "--project", "all")["sessions"], "the session")[0]
    return [i["key"] for i in rem.json("timeline", session["ref"], "--limit", "100000")["items"] if i["kind"] == "tool"]


def older_programs(rem):
    """Both programs with an older build id: the same bytes but for the date in it."""
    build_id = re.search(r"\((\S+)\)", rem.run("--version").out).group(1)
    old_id = re.sub(r"\+20\d\d", "+2001", build_id)
    folder = rem.scratch / "old"
    folder.mkdir()
    for program in (rem.client, rem.daemon):
        data = program.read_bytes()
        assert build_id.encode() in data
        (folder / program.name).write_bytes(data.replace(build_id.encode(), old_id.encode()))
        (folder / program.name).chmod(0o755)
    return folder


def test_a_newer_client_replaces_an_older_daemon_and_nothing_is_lost(rem):
    repo = rem.make_repo()
    old = Remanence(older_programs(rem), rem.scratch)
    old.env = rem.env
    first = old.start()
    for n in range(5):
        old.hook("PostToolUse", tool_body(repo, "toolu_old_%d" % n))
    rem.hook("PostToolUse", tool_body(repo, "toolu_new"))
    rem.json("stats", "--project", "all")
    assert rem.pid() != first
    rem.drained()
    keys = wait_for(lambda: (lambda k: k if len(k) == 6 else None)(keys_of(rem)), "six events")
    assert len(set(keys)) == 6
    again = rem.pid()
    old.run("--json", "stats", "--project", "all")  # an older client leaves a newer daemon alone
    assert rem.pid() == again


def test_a_daemon_that_leaves_while_hooks_arrive_loses_nothing(rem):
    repo = rem.make_repo()
    rem.start()
    sent, stop = [], threading.Event()

    def hooks(worker):
        n = 0
        while not stop.is_set() and n < 400:
            use = "toolu_%d_%d" % (worker, n)
            rem.hook("PostToolUse", tool_body(repo, use))
            sent.append(use)
            n += 1

    workers = [threading.Thread(target=hooks, args=(w,)) for w in range(2)]
    for w in workers:
        w.start()
    for _ in range(5):
        rem.run("stop", check=False)
    stop.set()
    for w in workers:
        w.join()
    rem.start()
    rem.drained()
    keys = keys_of(rem)
    assert len(keys) == len(set(keys)) and set(keys) == set(sent)


class Dying:
    """A daemon that was killed and is not taken apart yet: it has the lock, its socket takes connections, nobody answers them."""

    def __init__(self, rem):
        (rem.home / "run").mkdir(parents=True, exist_ok=True)
        path = rem.home / "run" / "socket"
        path.unlink(missing_ok=True)
        self.lock = open(rem.home / "run" / "lock", "a")
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(str(path))
        self.socket.listen(16)
        self.thread = threading.Thread(target=self.die, daemon=True)
        self.thread.start()

    def die(self):
        """When the first question has come, or after many connections without one, all of it goes at once."""
        for _ in range(16):
            peer, _ = self.socket.accept()
            asked = peer.recv(4096)
            peer.close()
            if asked:
                break
        self.socket.close()
        self.lock.close()


def test_start_is_not_deceived_by_the_socket_of_a_daemon_that_was_just_killed(rem):
    dying = Dying(rem)
    done = rem.json("start")
    assert not dying.thread.is_alive()
    assert done["started"] and rem.pid()


def test_start_waits_for_the_new_daemon_while_the_killed_one_is_taken_apart(rem):
    for _ in range(5):
        first = rem.start()
        os.kill(first, signal.SIGKILL)
        rem.run("start")
        second = rem.pid()
        assert second and second != first


def test_a_socket_that_takes_connections_and_answers_nothing_is_no_daemon(rem):
    """The system takes connections for a killed daemon until its last thread has ended; the lock is held as long."""
    run = rem.home / "run"
    run.mkdir(parents=True)
    with open(run / "lock", "w") as lock, socket.socket(socket.AF_UNIX) as dying:
        fcntl.flock(lock, fcntl.LOCK_EX)
        dying.bind(str(run / "socket"))
        dying.listen(8)
        dying.settimeout(60)
        daemon = subprocess.Popen([str(rem.daemon), "--foreground"], env=rem.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(2):  # it asks, gets no answer and goes on to wait
            asker = dying.accept()[0]
            assert asker.recv(100).startswith(b"GET /health ")
            asker.close()
        assert daemon.poll() is None
    wait_for(lambda: rem.pid() == daemon.pid, "the daemon to serve")
    rem.run("stop")
    assert daemon.wait(60) == 0


def test_a_dead_daemon_is_restarted_inside_an_mcp_session(rem):
    rem.run("remember", "The lighthouse keeper is called Ada.", "--project", "lighthouse")
    p = subprocess.Popen([str(rem.client), "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=rem.env, text=True, cwd=rem.scratch)

    def call(n):
        p.stdin.write(json.dumps({"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {
            "name": "search", "arguments": {"query": "lighthouse keeper", "project": "all"}}}) + "\n")
        p.stdin.flush()
        return json.loads(p.stdout.readline())

    assert call(1)["result"]["structuredContent"]["hits"]
    rem.kill()
    assert call(2)["result"]["structuredContent"]["hits"]
    p.stdin.close()
    assert p.wait(timeout=20) == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
def test_a_read_only_disk_is_said_in_a_sentence_and_hurts_no_session(rem):
    disk = rem.scratch / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "ro,size=1m", "none", str(disk)], capture_output=True).returncode:
        pytest.skip("cannot mount a tmpfs here")
    try:
        rem.env["REMANENCE_HOME"] = str(disk / "r")
        assert rem.run("hook", "claude", "Stop", input=b"{}", check=False).status == 0
        done = rem.run("search", "x", check=False)
        assert done.status != 0 and str(disk) in done.err and "ead-only" in done.err
    finally:
        subprocess.run(["umount", str(disk)])


def test_a_clock_that_jumps_back_loses_and_doubles_nothing(rem):
    s = ClaudeSession(rem, rem.make_repo())
    s.prompt("before the jump", hook=False)
    s.clock -= 86400_000
    s.tool("Bash", {"command": "date"}, {"stdout": "yesterday"}, hook=False)
    s.reply("The clock was set back by a day; nothing else changed here.", hook=False)
    s.write()
    assert rem.json("import", s.path)["new_events"] == 3
    assert rem.json("import", s.path)["new_events"] == 0


def test_install_and_uninstall_restore_every_byte_and_purge_removes_the_data(rem):
    claude, codex = rem.user_home / ".claude", rem.user_home / ".codex"
    for folder in (claude, codex):
        folder.mkdir()
    real = rem.scratch / "dotfiles.json"
    real.write_text('{\r\n  "permissions": {"allow": ["Bash(ls:*)"]},\r\n  "hooks": {}\r\n}')
    (claude / "settings.json").symlink_to(real)
    (codex / "config.toml").write_text('# mine\nmodel = "x" # keep\n\n[mcp_servers.other]\ncommand = "other"\n')
    before = {p: p.read_bytes() for p in (real, codex / "config.toml")}
    dry = rem.run("install", "--dry-run").out
    assert "+" in dry and {p: p.read_bytes() for p in before} == before
    rem.run("install")
    assert (claude / "settings.json").is_symlink() and b"remanence" in real.read_bytes()
    assert json.loads(real.read_text())["permissions"]["allow"] == ["Bash(ls:*)"]
    assert "# keep" in (codex / "config.toml").read_text()
    rem.run("install")
    out = rem.run("uninstall").out
    assert {p: p.read_bytes() for p in before} == before
    assert not (codex / "hooks.json").exists() and not (rem.user_home / ".claude.json").exists()
    assert str(rem.home) in out or rem.home.name in out, "a line names what stays"
    rem.start()
    rem.run("uninstall", "--purge", "--yes", check=False)
    assert not rem.home.exists() or not (rem.home / "remanence.db").exists()


def test_what_the_user_changed_since_survives_uninstalling(rem):
    (rem.user_home / ".claude").mkdir()
    settings = rem.user_home / ".claude" / "settings.json"
    settings.write_text('{"model": "opus"}\n')
    rem.run("install", "claude")
    changed = json.loads(settings.read_text())
    changed["env"] = {"MINE": "1"}
    changed["hooks"].setdefault("Stop", []).insert(0, {"hooks": [{"type": "command", "command": "mine"}]})
    settings.write_text(json.dumps(changed, indent=4))
    rem.run("uninstall", "claude")
    assert json.loads(settings.read_text()) == {"model": "opus", "env": {"MINE": "1"}, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}}


def test_broken_configuration_is_reported_and_the_other_agent_is_wired(rem):
    (rem.user_home / ".claude").mkdir()
    (rem.user_home / ".codex").mkdir()
    (rem.user_home / ".claude" / "settings.json").write_text("{ not json")
    done = rem.run("install", check=False)
    assert "settings.json" in done.out + done.err
    assert (rem.user_home / ".claude" / "settings.json").read_text() == "{ not json"
    assert "remanence" in (rem.user_home / ".codex" / "config.toml").read_text()


def test_settings_are_checked_kept_and_said(rem):
    rem.run("config", "set", "context.max_chars", "2000")
    assert rem.run("config", "get", "context.max_chars").out.strip().split()[-1].startswith("2000") or "2000" in rem.run("config", "get", "context.max_chars").out
    assert rem.run("config", "set", "context.max_chars", "many", check=False).status == 2
    done = rem.run("config", "set", "context.max_char", "5", check=False)
    assert done.status in (2, 4) and "context.max_chars" in done.err
    rem.run("config", "unset", "context.max_chars")
    assert "9000" in rem.run("config", "get", "context.max_chars").out


def test_a_backup_brings_everything_back(rem):
    rem.run("remember", "The backup holds the heron.", "--project", "birds")
    copy = rem.scratch / "copy.db"
    rem.run("backup", copy)
    rem.run("stop")
    shutil.rmtree(rem.home)
    rem.run("restore", copy, "--yes", check=False)
    assert rem.json("search", "heron", "--project", "all")["hits"]


def test_the_daemon_idles_without_work(rem):
    pid = rem.start()
    rem.run("remember", "idle", "--project", "p")

    def ticks():
        fields = pathlib.Path("/proc/%d/stat" % pid).read_text().rsplit(")", 1)[1].split()
        return int(fields[11]) + int(fields[12])

    wait_for(lambda: rem.json("status")["running"], "the daemon")
    import time
    time.sleep(1)
    before = ticks()
    time.sleep(3)  # what is measured is that nothing happens
    assert ticks() - before <= 1


def test_no_process_but_the_daemon_stays(rem):
    s = ClaudeSession(rem, rem.make_repo())
    s.prompt("count the processes")
    s.reply("There is one process and it is the daemon, as it should be.")
    rem.drained()
    mine = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if str(rem.home).encode() in (entry / "environ").read_bytes():
                    mine.append((entry / "cmdline").read_bytes().split(b"\0")[0])
            except OSError:
                pass
    assert [os.path.basename(m.decode()) for m in mine] == ["remanenced"]
