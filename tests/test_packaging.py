"""What people install from: the installer in an empty home, the container's steps in a clean folder, units, compose file, scripts."""
import json
import os
import pathlib
import re
import shutil
import socket
import stat
import subprocess
import sys

import pytest

from lib import wait_for

TOP = pathlib.Path(__file__).parent.parent
DOCKER = TOP / "packaging" / "docker"
sanitized = "ASAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ
once = pytest.mark.skipif(sanitized, reason="the same whatever the sanitizer")


def sources(folder):
    """What a clone holds."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=TOP, check=True, capture_output=True, text=True).stdout.split("\0")
    for name in filter(None, names):
        if (TOP / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(TOP / name, folder / name)
    # the build's identity comes from the clone's history
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    return folder


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def curl(port, path, body=None):
    done = subprocess.run(["curl", "-sS", "http://127.0.0.1:%d%s" % (port, path)] + (["-d", json.dumps(body)] if body else []),
                          capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def dockerfile_steps(stage):
    """The RUN steps of a stage, each as one shell command."""
    text = (DOCKER / "Dockerfile").read_text().replace("\\\n", " ")
    parts = re.split(r"^FROM .*$", text, flags=re.M)[1:]
    return re.findall(r"^RUN (.*)$", parts[stage], flags=re.M)


def settings_of_compose():
    text = (DOCKER / "compose.yaml").read_text()
    return dict(re.findall(r"^ +(REMANENCE_\w+): (.*)$", text, flags=re.M))


@once
def test_the_dockerfile_passes_hadolint():
    hadolint = pathlib.Path(sys.executable).parent / "hadolint"
    done = subprocess.run([hadolint, DOCKER / "Dockerfile"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@once
@pytest.mark.e2e
def test_the_steps_of_the_dockerfile_make_a_daemon_that_answers_as_the_compose_file_has_it(scratch):
    src, image = sources(scratch / "src"), scratch / "image"
    image.mkdir()
    steps = [s for s in dockerfile_steps(0) if "apt" not in s]
    assert len(steps) >= 3
    for step in steps:
        done = subprocess.run(["bash", "-eo", "pipefail", "-c", step.replace("/image", str(image))], cwd=src, env={**os.environ, "MODEL": "0"},
                              capture_output=True, text=True)
        assert done.returncode == 0, step + done.stdout[-2000:] + done.stderr[-2000:]
    assert "libmicrohttpd12" in (image / "packages").read_text().split()
    port = free_port()
    env = {"PATH": os.environ["PATH"], "HOME": str(scratch), "REMANENCE_HOME": str(scratch / "data"), "REMANENCE_HTTP_LISTEN": "0.0.0.0",
           "REMANENCE_HTTP_PORT": str(port), "REMANENCE_HTTP_OPEN_ROUTES": settings_of_compose()["REMANENCE_HTTP_OPEN_ROUTES"]}
    daemon = subprocess.Popen([image / "usr/bin/remanenced", "--foreground"], env=env, stderr=subprocess.DEVNULL)
    try:
        assert wait_for(lambda: curl(port, "/health"), "the daemon to answer")["status"] == "ok"
        assert curl(port, "/stats")["total_chunks"] == 0
        assert curl(port, "/search", {"query": "anything", "limit": 5}) == []
        check = subprocess.run([image / "usr/bin/remanence", "status"], env=env, capture_output=True, text=True)
        assert check.returncode == 0, check.stderr
    finally:
        daemon.terminate()
        assert daemon.wait(30) == 0


@once
def test_the_compose_file_sets_only_settings_that_exist(rem):
    known = {s["key"] for s in rem.json("config")["settings"]}
    for name in settings_of_compose():
        key = name[len("REMANENCE_"):].lower()
        assert key in {k.replace(".", "_") for k in known}, name


@once
def test_the_systemd_units_are_sound(scratch):
    if not shutil.which("systemd-analyze"):
        pytest.skip("there is no systemd-analyze")
    for unit in (TOP / "packaging" / "systemd").iterdir():
        text = re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", unit.read_text(), flags=re.M)
        (scratch / unit.name).write_text(text)
        done = subprocess.run(["systemd-analyze", "verify", scratch / unit.name], capture_output=True, text=True)
        assert unit.name not in done.stderr, done.stderr


@once
@pytest.mark.e2e
def test_the_installer_works_twice_in_an_empty_home_and_leaves_the_data_to_its_owner(scratch):
    src, home = sources(scratch / "src"), scratch / "home"
    (home / ".claude").mkdir(parents=True)
    # The home is empty; what was compiled before need not be compiled again, where there is a ccache.
    ccache = os.environ.get("CCACHE_DIR", os.path.expanduser("~/.cache/ccache"))
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", "CCACHE_DIR": ccache}
    # a umask that keeps nothing private by itself
    command = ["bash", "-c", "umask 0; exec ./install.sh --no-packages --no-model"]
    try:
        for _ in range(2):
            done = subprocess.run(command, cwd=src, env=env, capture_output=True, text=True)
            assert done.returncode == 0, done.stdout + done.stderr
        assert (home / ".claude/settings.json").read_text().count("remanence hook claude Stop") <= 1
        assert json.loads((home / ".claude/settings.json").read_text())["hooks"]["SessionStart"]
        data = home / ".local/share/remanence"
        assert stat.S_IMODE(data.stat().st_mode) == 0o700
        loose = [p for p in data.rglob("*") if p.is_file() and stat.S_IMODE(p.stat().st_mode) & 0o077]
        assert loose == []
        remanence = home / ".local/bin/remanence"
        assert subprocess.run([remanence, "doctor"], env=env, capture_output=True, text=True).returncode == 0
        assert subprocess.run([remanence, "uninstall"], env=env, capture_output=True, text=True).returncode == 0
        assert "remanence" not in ((home / ".claude/settings.json").read_text() if (home / ".claude/settings.json").exists() else "")
    finally:
        subprocess.run([home / ".local/bin/remanence", "stop"], env=env, capture_output=True)
