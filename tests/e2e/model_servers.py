"""Real model servers, when they were built: tests/ollama and tests/llama."""
import os
import pathlib
import signal
import subprocess
import time

import pytest

from lib import wait_for

SCRIPTS = pathlib.Path(__file__).parent.parent


def state(name):
    return subprocess.run([str(SCRIPTS / name), "state"], capture_output=True, text=True, check=True).stdout.strip()


def start(name, folder):
    """The address of a running server and its process; skips the test when there is none to be had."""
    end = time.monotonic() + float(os.environ.get("REMANENCE_TEST_SERVER_WAIT", "0"))
    while state(name) == "building" and time.monotonic() < end:
        time.sleep(2)
    if state(name) != "ready":
        pytest.skip("no real %s: %s" % (name, state(name)))
    port_file = folder / name
    process = subprocess.Popen([str(SCRIPTS / name), "start", str(port_file)], start_new_session=True)
    wait_for(lambda: port_file.exists() or process.poll() is not None, name + " to start", 120)
    assert port_file.exists(), name + " did not start"
    return port_file.read_text().strip(), process


def stop(process):
    os.killpg(process.pid, signal.SIGTERM)
    process.wait(60)
