"""Runs the real coding agents offline: a network namespace with loopback only, and a scripted model server inside."""
import json
import os
import pathlib
import subprocess

HERE = pathlib.Path(__file__).parent
CACHE = pathlib.Path(os.environ.get("REMANENCE_TEST_CACHE", "~/.cache/remanence-tests")).expanduser()
CLAUDE = CACHE / "claude-2.1.332" / "node_modules" / "@anthropic-ai" / "claude-code-linux-x64" / "claude"
CODEX = CACHE / "codex-0.171.0" / "node_modules" / "@openai" / "codex-linux-x64" / "vendor" / "x86_64-unknown-linux-musl" / "bin" / "codex"


def namespace():
    words = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--net"]
    return words


def can_isolate():
    return subprocess.run([*namespace(), "true"], capture_output=True).returncode == 0


class Agent:
    """One agent with the home of a test: run(words) gives status, output and the requests that reached the model."""

    def __init__(self, rem, mock, port=0):
        self.rem, self.mock, self.port, self.runs = rem, mock, port, 0
        self.env = dict(rem.env)

    def run(self, script, *words, cwd=None, timeout=120, env=None):
        self.runs += 1
        log = self.rem.scratch / ("api-%d" % self.runs)
        log.mkdir()
        script_file = log / "script"
        script_file.write_text(json.dumps(script))
        cwd = cwd or self.rem.repo
        done = subprocess.run([*namespace(), str(HERE / "inside"), str(HERE / self.mock), str(script_file), str(log),
                               str(self.port), str(cwd), "--", *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, errors="replace", timeout=timeout, env={**self.env, **(env or {})})
        done.requests = [json.loads(p.read_text()) for p in sorted(log.glob("req-*.json"))]
        return done


class Claude(Agent):
    def __init__(self, rem):
        super().__init__(rem, "mock_anthropic.py")
        self.env.update(ANTHROPIC_API_KEY="sk-ant-dummy-not-a-key", IS_SANDBOX="1", DISABLE_TELEMETRY="1", DISABLE_AUTOUPDATER="1",
                        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1", DISABLE_ERROR_REPORTING="1")

    def ask(self, script, prompt, *more, **how):
        return self.run(script, CLAUDE, "-p", prompt, "--dangerously-skip-permissions", "--output-format", "stream-json",
                        "--verbose", *more, **how)


class Codex(Agent):
    PORT = 8764

    def __init__(self, rem):
        super().__init__(rem, "mock_openai.py", self.PORT)
        self.env.update(MOCK_KEY="dummy")
        folder = rem.user_home / ".codex"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.toml").write_text(
            'model = "mock-model"  # chosen by hand\nmodel_provider = "mock"\n\n'
            '[model_providers.mock]\nname = "mock"\nbase_url = "http://127.0.0.1:%d/v1"\nwire_api = "responses"\nenv_key = "MOCK_KEY"\n'
            'request_max_retries = 0\nstream_max_retries = 0\n\n[projects."%s"]\ntrust_level = "trusted"\n' % (self.PORT, rem.repo))

    def ask(self, script, prompt, *more, **how):
        return self.run(script, CODEX, "exec", "--json", "--dangerously-bypass-approvals-and-sandbox", *more, prompt, **how)
