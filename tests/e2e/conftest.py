import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import model_servers  # noqa: E402


def running(name, tmp_path_factory):
    address, process = model_servers.start(name, tmp_path_factory.mktemp(name))
    yield address
    model_servers.stop(process)


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """The address of a real Ollama; without one the test is left out."""
    yield from running("ollama", tmp_path_factory)


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    """The address of a real llama.cpp server; without one the test is left out."""
    yield from running("llama", tmp_path_factory)
