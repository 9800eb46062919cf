"""The real Claude Code, offline: a file that is read in a later session brings its history, once, and without a word about permissions."""
import json
import pathlib
import shutil
import tempfile

import pytest

from agents import CLAUDE, Claude, can_isolate
from lib import wait_for
from test_claude import FILES, WORK, sent

pytestmark = [pytest.mark.e2e, pytest.mark.skipif(not CLAUDE.exists(), reason="Claude Code is not in the cache"),
              pytest.mark.skipif(not can_isolate(), reason="no network namespaces here")]

READING = {"default": [
    [{"tool": "Read", "input": {"file_path": "${REPO}/parser.py"}}],
    [{"tool": "Read", "input": {"file_path": "${REPO}/parser.py"}}],
    [{"tool": "Read", "input": {"file_path": "${REPO}/test_parser.py"}}],
    ["read"]]}


@pytest.fixture
def claude(rem):
    folder = pathlib.Path(tempfile.mkdtemp(dir="/var/tmp"))  # files below /tmp are no work on a project
    rem.repo = folder / "repo"
    rem.make_repo(files=FILES)
    (rem.user_home / ".claude").mkdir()
    rem.start()
    rem.run("install", "claude")
    rem.run("config", "set", "context.observations", "0")
    yield Claude(rem)
    rem.close()
    shutil.rmtree(folder)


def test_a_file_read_in_a_later_session_brings_its_history(rem, claude):
    first = claude.ask(WORK, "please fix the flaky parser test [[work]]")
    assert first.returncode == 0, first.stderr + first.stdout
    rem.drained()
    past = wait_for(lambda: rem.json("files", "parser.py", cwd=rem.repo)["memories"], "the file's memories")
    second = claude.ask(READING, "have a look at the code")
    assert second.returncode == 0, second.stderr + second.stdout
    text = sent(second)
    told = [m["title"] for m in past if m["title"] in text]
    assert "PreToolUse" in text and told, "the past of parser.py did not reach the model"
    given = [i for i in rem.json("why", cwd=rem.repo)["injections"] if i["where"] == "file"]
    assert len(given) == 1 and given[0]["chars"] <= 1500, "told once, within its bound"
    settings = rem.user_home / ".claude" / "settings.json"
    assert "PreToolUse" in json.loads(settings.read_text())["hooks"]
    rem.run("uninstall", "claude")
    assert not settings.exists() or "remanence" not in settings.read_text()
