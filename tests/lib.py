"""Running the programs under test. Nothing here sleeps for a fixed time: it waits for a condition, with a limit."""
import json
import os
import pathlib
import signal
import socket
import sqlite3
import subprocess
import time
import urllib.request
import uuid

LIMIT = float(os.environ.get("REMANENCE_TEST_LIMIT", "60"))  # seconds that a condition may take


def wait_for(condition, what, limit=LIMIT):
    """Calls condition() until it gives something true, and gives that."""
    end = time.monotonic() + limit
    pause = 0.005
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError("timed out after %g s: %s" % (limit, what))
        time.sleep(pause)
        pause = min(pause * 1.5, 0.2)


class Result:
    def __init__(self, proc):
        self.status, self.out, self.err = proc.returncode, proc.stdout, proc.stderr

    @property
    def json(self):
        return json.loads(self.out.strip().splitlines()[-1])


class Remanence:
    """The client and daemon with folders of their own below `scratch`."""

    def __init__(self, build, scratch):
        self.build = pathlib.Path(build)
        self.client, self.daemon = self.build / "remanence", self.build / "remanenced"
        self.scratch = pathlib.Path(scratch)
        self.user_home, self.home = self.scratch / "u", self.scratch / "r"
        self.user_home.mkdir(exist_ok=True)
        self.repo = self.scratch / "repo"
        self.env = {
            "HOME": str(self.user_home),
            "REMANENCE_HOME": str(self.home),
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "NO_COLOR": "1",
            "REMANENCE_HOOK_ASK_MS": "5000",  # tests look at answers, not at the speed of a loaded machine
        }
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS", "TMPDIR"):
            if name in os.environ:
                self.env[name] = os.environ[name]

    def run(self, *args, input=None, cwd=None, env=None, check=True, timeout=120):
        data = input.encode() if isinstance(input, str) else input
        proc = subprocess.run([str(self.client), *map(str, args)], input=data, capture_output=True,
                              cwd=str(cwd or self.repo if self.repo.exists() else cwd or self.scratch),
                              env={**self.env, **(env or {})}, timeout=timeout,
                              stdin=None if data is not None else subprocess.DEVNULL)
        proc.stdout, proc.stderr = proc.stdout.decode("utf-8", "replace"), proc.stderr.decode("utf-8", "replace")
        if check and proc.returncode != 0:
            raise AssertionError("%s gave %d\n%s\n%s" % (args, proc.returncode, proc.stdout[-4000:], proc.stderr[-4000:]))
        return Result(proc)

    def json(self, *args, **how):
        return self.run("--json", *args, **how).json

    def hook(self, event, payload, agent="claude", env=None, cwd=None):
        """One hook call, as the agent makes it. Gives what it printed."""
        data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        return self.run("hook", agent, event, input=data, env=env, cwd=cwd).out

    def http(self, path, body=None):
        """What a route says: to GET, or to POST of a body."""
        request = urllib.request.Request("http://%s%s" % (self.json("status")["http"], path), data=body and json.dumps(body).encode(),
                                         headers={"Authorization": "Bearer " + (self.home / "run" / "token").read_text().strip()})
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as reply:
            return json.load(reply)

    def sql(self, query, *args):
        """Rows of the store, when it is a file."""
        with sqlite3.connect("file:%s?mode=ro" % (self.home / "remanence.db"), uri=True, timeout=30) as db:
            return db.execute(query, args).fetchall()

    def spool(self, where="new"):
        folder = self.home / "spool" / where
        return sorted(p for p in folder.iterdir()) if folder.exists() else []

    def knock(self):
        """Tells the daemon that the spool has something, as a hook does."""
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(str(self.home / "run" / "socket"))

    def drained(self):
        """Waits until the daemon took in everything that hooks left."""
        wait_for(lambda: not self.spool(), "the spool to be drained")

    def start(self):
        """Starts the daemon unless it runs; gives its process id."""
        self.run("start")
        return self.pid()

    def pid(self):
        result = self.run("--json", "status", check=False)
        return result.json.get("pid") if result.status == 0 else None

    def kill(self, sig=signal.SIGKILL):
        pid = self.pid()
        if pid:
            os.kill(pid, sig)
            wait_for(lambda: not pathlib.Path("/proc/%d" % pid).exists() or is_zombie(pid), "the daemon to end")
        return pid

    def close(self):
        try:
            self.run("stop", check=False, timeout=60)
        except (subprocess.TimeoutExpired, OSError):
            pass
        for entry in pathlib.Path("/proc").iterdir():  # what a failed test may have left
            if entry.name.isdigit():
                try:
                    words = (entry / "cmdline").read_bytes().split(b"\0")
                    environ = (entry / "environ").read_bytes()
                except OSError:
                    continue
                if words[0].endswith(b"remanenced") and str(self.home).encode() in environ:
                    os.kill(int(entry.name), signal.SIGKILL)

    def make_repo(self, path=None, files=None):
        """A git repository with a first commit."""
        repo = pathlib.Path(path or self.repo)
        repo.mkdir(parents=True, exist_ok=True)
        for name, text in (files or {"README.md": "# Demo\n"}).items():
            (repo / name).parent.mkdir(parents=True, exist_ok=True)
            (repo / name).write_text(text)
        self.git(repo, "init", "-q", "-b", "main")
        self.git(repo, "add", "-A")
        self.git(repo, "commit", "-q", "-m", "init")
        return repo

    def git(self, repo, *args):
        return subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.invalid", *args], cwd=repo,
                              check=True, capture_output=True, text=True, env=self.env).stdout.strip()


def is_zombie(pid):
    try:
        return pathlib.Path("/proc/%d/stat" % pid).read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


class Driver:
    """A program of tests/drive, which asks a provider and says in lines of JSON what came of it. `text` and `options` hold unless a call says otherwise."""

    def __init__(self, build, name, text, server=None, **options):
        self.program, self.text, self.server, self.options = build / "tests" / "drive" / name, text, server, options

    def run(self, provider, url, text=None, env=None, timeout=120, **options):
        words = ["%s=%s" % o for o in {**self.options, **options}.items()]
        environ = {k: v for k, v in os.environ.items() if not k.endswith("_API_KEY") and "proxy" not in k.lower()}
        done = subprocess.run([str(self.program), provider, url, *words], input=(self.text if text is None else text).encode(),
                              capture_output=True, timeout=timeout, env={**environ, **(env or {})})
        assert done.stderr == b"", done.stderr.decode("utf-8", "replace")[-3000:]
        return [json.loads(line) for line in done.stdout.decode().splitlines()]

    def ask(self, provider, behaviour, text=None, **options):
        """The last line about this behaviour of the scripted server, and the requests that the server saw for it."""
        name = "%s~%s" % (behaviour, uuid.uuid4().hex[:8])
        last = self.run(provider, "%s/%s" % (self.server.url, name), text, **options)[-1]
        return last, [r for r in self.server.log if r["behaviour"] == name]


class ClaudeSession:
    """Makes the hook inputs and the transcript of one Claude Code session, in the observed shapes."""

    def __init__(self, rem, cwd, session=None):
        self.rem, self.cwd = rem, str(cwd)
        self.id = session or str(uuid.uuid4())
        slug = "".join(c if c.isalnum() else "-" for c in self.cwd)
        self.path = rem.user_home / ".claude" / "projects" / slug / (self.id + ".jsonl")
        self.lines, self.last, self.prompt_id = [], None, None
        self.clock = int(time.time() * 1000) - 3600_000

    def base(self, event, **more):
        d = {"session_id": self.id, "transcript_path": str(self.path), "cwd": self.cwd, "hook_event_name": event}
        if self.prompt_id:
            d["prompt_id"] = self.prompt_id
        d.update(more)
        return d

    def hook(self, event, **more):
        return self.rem.hook(event, self.base(event, **more))

    def line(self, kind, message, **more):
        self.clock += 1000
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(self.clock / 1000)) + ".%03dZ" % (self.clock % 1000)
        d = {"parentUuid": self.last, "isSidechain": False, "userType": "external", "cwd": self.cwd, "sessionId": self.id,
             "version": "2.1.332", "gitBranch": "main", "type": kind, "message": message, "uuid": str(uuid.uuid4()),
             "timestamp": stamp}
        d.update(more)
        self.last = d["uuid"]
        self.lines.append(d)
        return d

    def write(self):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text("".join(json.dumps(x) + "\n" for x in self.lines))

    def prompt(self, text, hook=True):
        self.prompt_id = str(uuid.uuid4())
        self.line("user", {"role": "user", "content": text}, promptId=self.prompt_id)
        return self.hook("UserPromptSubmit", prompt=text, permission_mode="default") if hook else None

    def tool(self, name, tool_input, response, failed=None, hook=True):
        use = "toolu_" + uuid.uuid4().hex[:24]
        self.line("assistant", {"id": "msg_" + uuid.uuid4().hex[:20], "role": "assistant", "model": "claude-opus-5-5",
                                "content": [{"type": "tool_use", "id": use, "name": name, "input": tool_input}],
                                "usage": {"input_tokens": 10, "output_tokens": 5}})
        text = failed if failed is not None else response if isinstance(response, str) else response.get("stdout", "ok")
        self.line("user", {"role": "user", "content": [{"type": "tool_result", "tool_use_id": use, "content": text,
                                                        "is_error": failed is not None}]},
                  toolUseResult="Error: " + failed if failed is not None else response, promptId=self.prompt_id)
        if hook and failed is not None:
            self.hook("PostToolUseFailure", tool_name=name, tool_input=tool_input, tool_use_id=use, error=failed,
                      is_interrupt=False, duration_ms=5)
        elif hook:
            self.hook("PostToolUse", tool_name=name, tool_input=tool_input, tool_use_id=use, tool_response=response,
                      duration_ms=5)
        return use

    def reply(self, text, hook=True):
        self.line("assistant", {"id": "msg_" + uuid.uuid4().hex[:20], "role": "assistant", "model": "claude-opus-5-5",
                                "content": [{"type": "text", "text": text}], "usage": {"input_tokens": 20, "output_tokens": 9}})
        if hook:
            self.write()
            self.hook("Stop", stop_hook_active=False, last_assistant_message=text)
