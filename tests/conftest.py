"""What the tests share: a data folder of their own for each, the programs under test, and a runner."""
import os
import pathlib
import shutil
import sys
import tempfile

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from lib import Remanence  # noqa: E402

BUILD = pathlib.Path(os.environ.get("REMANENCE_TEST_BUILD", pathlib.Path(__file__).parent.parent / "build"))


@pytest.fixture
def build():
    return BUILD


@pytest.fixture
def scratch():
    """A short path (sockets have short names), removed afterwards."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="rem-", dir=os.environ.get("TMPDIR", "/tmp")))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def rem(scratch):
    """Remanence with an empty data folder and an empty user home; its daemon is stopped in the end."""
    r = Remanence(BUILD, scratch)
    yield r
    r.close()
