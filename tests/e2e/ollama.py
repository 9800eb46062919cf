"""A real model server, when it was built: tests/ollama."""
import os
import pathlib
import signal
import subprocess
import time

import pytest

from lib import wait_for

SCRIPT = pathlib.Path(__file__).parent.parent / "ollama"


def state():
    return subprocess.run([str(SCRIPT), "state"], capture_output=True, text=True, check=True).stdout.strip()


def start(folder):
    """The address of a running server and its process; skips the test when there is none to be had."""
    end = time.monotonic() + float(os.environ.get("REMANENCE_TEST_OLLAMA_WAIT", "0"))
    while state() == "building" and time.monotonic() < end:
        time.sleep(2)
    if state() != "ready":
        pytest.skip("no real Ollama: " + state())
    port_file = folder / "ollama"
    process = subprocess.Popen([str(SCRIPT), "start", str(port_file)], start_new_session=True)
    wait_for(lambda: port_file.exists() or process.poll() is not None, "Ollama to start", 120)
    assert port_file.exists(), "Ollama did not start"
    return port_file.read_text().strip(), process


def stop(process):
    os.killpg(process.pid, signal.SIGTERM)
    process.wait(60)
