import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import ollama  # noqa: E402


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """The address of a real model server; without one the test is left out."""
    address, process = ollama.start(tmp_path_factory.mktemp("ollama"))
    yield address
    ollama.stop(process)
