"""The unit tests written in C: each program is one test here; its own report is shown when it fails."""
import os
import pathlib
import subprocess

import pytest

BUILD = pathlib.Path(os.environ.get("REMANENCE_TEST_BUILD", pathlib.Path(__file__).parent.parent / "build"))
SOURCES = sorted((pathlib.Path(__file__).parent / "unit").glob("test_*.c"))


# What works on the store runs on both kinds of it.
ON_BOTH = [s.stem for s in SOURCES if any(w in s.read_text() for w in ("store_fixture.h", "ops_fixture.h"))]


@pytest.mark.parametrize("name", ON_BOTH)
def test_unit_on_postgres(name, tmp_path, postgres):
    run(name, tmp_path, REMANENCE_TEST_STORE=postgres)


@pytest.mark.parametrize("name", [s.stem for s in SOURCES])
def test_unit(name, tmp_path):
    run(name, tmp_path)


def run(name, tmp_path, **env):
    program = BUILD / "tests" / "unit" / name
    assert program.exists(), "tests/unit/%s.c is not built: is it listed in tests/unit/meson.build?" % name
    done = subprocess.run([str(program)], cwd=pathlib.Path(__file__).parent.parent, capture_output=True, text=True,
                          errors="replace", timeout=280, env={**os.environ, "TMPDIR": str(tmp_path), **env})
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-6000:]
