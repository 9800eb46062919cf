"""Knowledge once: hooks and transcripts of the same sessions, in any order, mixed, repeated and in pieces, give the same facts, entities and counts."""
import json
import pathlib
import random
import shutil
import tempfile

import pytest

from lib import ClaudeSession, Remanence, wait_for

DAY = 86400_000


class Deferred(ClaudeSession):
    """A session whose hooks are kept, with the time that they would have come at, instead of being run."""

    def __init__(self, rem, cwd, session, ago):
        super().__init__(rem, cwd, session)
        self.hooks = []
        self.clock = 1790000000000 - ago * DAY

    def hook(self, event, **more):
        self.hooks.append((event, self.clock + 3, self.base(event, **more)))  # a hook's clock is not the transcript's
        return ""

    def write(self):
        pass

    def write_until(self, lines):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text("".join(json.dumps(x) + "\n" for x in self.lines[:lines]))

    def shell(self, command, output, failed=False):
        self.tool("Bash", {"command": command}, {"stdout": output, "stderr": "", "interrupted": False},
                  failed="Exit code 1\n" + output if failed else None)

    def edit(self, name, old, new):
        path = self.cwd + "/" + name
        self.tool("Edit", {"file_path": path, "old_string": old, "new_string": new},
                  {"filePath": path, "oldString": old, "newString": new,
                   "structuredPatch": [{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-" + old, "+" + new]}]})


def story(rem, folder):
    """Three sessions about one project: wishes that contradict each other, errors and what solved them, a decision, an open end."""
    cwd = str(folder)
    a, b, c = (Deferred(rem, cwd, "00000000-0000-4000-8000-00000000000%d" % n, ago) for n, ago in ((1, 9), (2, 5), (3, 1)))
    a.prompt("please use npm instead of pnpm")
    a.edit("src/app.js", "const a = 1", "import pad from 'left-pad'")
    a.shell("npm test", "Error: Cannot find module 'left-pad'", failed=True)
    a.reply("The module is missing. The lockfile still needs to be committed.")
    a.prompt("install it then")
    a.shell("npm install left-pad", "added 1 package")
    a.shell("npm test", "ok")
    a.edit("src/app.js", "x", "y")
    a.shell("npm test", "ok")
    a.reply("`left-pad` is installed and `npm test` passes in src/app.js.")
    b.prompt("from now on, use pnpm instead of npm. always run make check before committing")
    b.shell("make check", "41 passed")
    b.edit("src/main.py", "x = 1", "import numpy")
    b.shell("make check", "src/main.py:3:1: error: unknown name `numpyy`", failed=True)
    b.edit("src/main.py", "numpyy", "numpy")
    b.shell("make check", "42 passed")
    b.reply("Decided to keep `src/main.py` as one script instead of a package because it is short.")
    c.prompt("I prefer pnpm over npm")
    c.shell("make check", "42 passed")
    c.shell("docker compose up db", "started postgres:16")
    c.edit("src/main.py", "y", "z")
    c.shell("make check", "42 passed")
    c.reply("The lockfile is committed now, and src/main.py reads it.")
    return [a, b, c]


class Way:
    """One store that is told the story in its own way."""

    def __init__(self, build, scratch, label, project):
        home = scratch / label
        home.mkdir()
        self.rem = Remanence(build, home)
        self.rem.repo = project
        self.rem.start()
        self.sessions = story(self.rem, self.rem.repo)
        self.count = 0

    def hooks(self, s, part=slice(None)):
        new = self.rem.home / "spool" / "new"
        for event, at, payload in s.hooks[part]:
            self.count += 1
            body = json.dumps(payload).encode()
            head = "remanence-spool 1 claude %s %d %d %s\n" % (event, at, len(body), s.cwd)
            # The name is the hook's own: a replay comes under the same one.
            name = "%013d-%d-%08x" % (at, 4000, s.hooks.index((event, at, payload)) + 1000 * int(s.id[-1]))
            tmp = self.rem.home / "spool" / "tmp" / name
            tmp.write_bytes(head.encode() + body)
            tmp.rename(new / name)
        self.rem.knock()

    def settle(self):
        self.rem.drained()
        wait_for(lambda: self.rem.json("stats", "--project", "all")["spool_files"] == 0, "nothing to wait in the spool")

    def read(self, s, lines=None):
        s.write_until(len(s.lines) if lines is None else lines)
        self.rem.json("import", s.path)

    def known(self):
        """Facts and entities with their counts, without ids."""
        facts = []
        for status in ("active", "pending", "superseded"):
            for f in self.rem.json("facts", "--project", "all", "--status", status, "--limit", "1000")["facts"]:
                facts.append((f["category"], f["text"], status, f.get("times"), f.get("sessions"), f["evidence"], f["confidence"], f["at"],
                              f.get("first_at"), f.get("valid_to"), tuple(f["files"])))
        names = [(e["name"], e["kind"], e["mentions"], e["sessions"], e["first_at"], e["last_at"])
                 for e in self.rem.json("entities", "--project", "all", "--limit", "1000")["entities"]]
        return sorted(facts, key=str), sorted(names, key=str)


def transcripts_only(way):
    for s in way.sessions:
        way.read(s)


def hooks_first(way):
    for s in way.sessions:
        way.hooks(s)
    way.settle()
    transcripts_only(way)


def transcripts_first(way):
    for s in reversed(way.sessions):
        way.read(s)
    for s in way.sessions:
        way.hooks(s)
    way.settle()
    transcripts_only(way)


def mixed(seed):
    def way_of(way):
        chance = random.Random(seed)
        steps = []
        for s in way.sessions:
            n, at = len(s.hooks), sorted(chance.sample(range(1, len(s.lines)), 2)) + [len(s.lines)]
            cut = chance.randrange(n + 1)
            steps += [(way.hooks, s, slice(0, cut)), (way.hooks, s, slice(cut, n))]
            steps += [(way.hooks, s, slice(0, cut))] * chance.randrange(2)  # once more
            steps += [(way.read, s, lines) for lines in at]
        order = steps[:]
        chance.shuffle(order)
        reached = {}
        for step in order:
            if step[0] == way.read:  # a transcript only grows
                lines = reached[step[1].id] = max(reached.get(step[1].id, 0), step[2])
                way.read(step[1], lines)
            else:
                step[0](*step[1:])
                if chance.randrange(2):
                    way.settle()
        way.settle()
        transcripts_only(way)
    way_of.__name__ = "mixed_%d" % seed
    return way_of


@pytest.fixture
def project():
    folder = pathlib.Path(tempfile.mkdtemp(dir="/var/tmp"))  # files below /tmp are no work on a project
    yield folder
    shutil.rmtree(folder)


@pytest.mark.parametrize("told", [hooks_first, transcripts_first, mixed(1), mixed(2), mixed(3)], ids=lambda f: f.__name__)
def test_any_mixture_of_hooks_and_transcripts_gives_the_same_knowledge(build, scratch, project, told):
    known = []
    for label, tell in (("reference", transcripts_only), ("other", told)):
        way = Way(build, scratch, label, project)
        try:
            tell(way)
            way.settle()
            # Turns that only hooks told are looked at when they are quiet; an import looks at all.
            way.rem.json("import", way.sessions[0].path)
            known.append(way.known())
        finally:
            way.rem.close()
    (facts, names), (other_facts, other_names) = known
    titles = [f[1] for f in facts]
    assert any("You prefer pnpm over npm" in t for t in titles) and any("was solved by" in t for t in titles)
    assert {"left-pad", "numpy"} <= {n[0] for n in names}
    assert other_facts == facts
    assert other_names == names
