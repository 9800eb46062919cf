"""Makes sessions of varied text, the same for the same seed: transcripts in Claude Code's format, and questions to ask of them."""
import itertools
import json
import pathlib
import random
import time

TECHNICAL = """parser lexer token socket daemon cache index query schema migration transaction thread mutex buffer allocator
iterator closure decorator endpoint router middleware cookie session certificate handshake latency throughput backoff retry
queue broker consumer producer partition replica snapshot checkpoint compaction segment bloom filter histogram quantile tensor
gradient kernel shader texture sprite viewport layout flexbox selector component reducer hook effect promise coroutine scheduler
interrupt register pipeline compiler linker loader symbol relocation section header archive checksum digest cipher nonce salt
keyring vault secret policy role tenant quota billing invoice refund ledger audit webhook callback payload envelope codec frame
packet window congestion route gateway proxy balancer cluster node pod container image volume mount namespace cgroup sandbox
fixture mock assertion coverage fuzzer benchmark profiler tracer span metric logger rotation locale timezone calendar encoding
unicode grapheme stemmer tokenizer ranking posting vector embedding cosine centroid shard rebalance leader election quorum
heartbeat timeout deadline budget breaker limiter semaphore barrier channel mailbox actor supervisor restart rollback deploy
canary release branch commit rebase merge conflict review lint formatter typecheck inference generic trait interface adapter""".split()
VERBS = """adds removes renames splits merges caches validates rejects retries escapes parses renders compiles links flushes
rotates restores migrates wraps unwraps locks releases closes opens reads writes copies moves checks measures limits delays""".split()
CHINESE_WEIGHTS = [1 / (n + 5) for n in range(4000)]
GLUE = """the a of and to in it that with for on as by from is was this which when after before only now also because so then""".split()
SYLLABLES = "ba ce di fo gu ha ki lo mu na pe qui ra so tu va we xi yo zu bra cle dri flo gru pla sti tro kna phe".split()


def vocabulary():
    """The same whatever the seed: questions are asked in the words of the texts. The most frequent first."""
    rng, made = random.Random(2), set()
    while len(made) < 30000:
        made.add("".join(rng.choice(SYLLABLES) for _ in range(rng.randint(2, 4))))
    words = TECHNICAL + sorted(made)
    rng.shuffle(words)
    return words


class Corpus:
    def __init__(self, seed=1):
        self.rng = random.Random(seed)
        words = vocabulary()
        weights = list(itertools.accumulate(1 / (n + 5) for n in range(len(words))))
        self.words, self.weights = words, weights
        self.pool, self.at = [], 0

    def word(self):
        """By Zipf's law, as words come in real text."""
        if self.at == len(self.pool):
            self.pool, self.at = self.rng.choices(self.words, cum_weights=self.weights, k=20000), 0
        self.at += 1
        return self.pool[self.at - 1]

    def identifier(self):
        a, b = self.word(), self.word()
        return self.rng.choice((a + "_" + b, a + b.capitalize(), a + "." + b))

    def sentence(self):
        rng, out = self.rng, []
        for n in range(rng.randint(7, 16)):
            r = rng.random()
            out.append(rng.choice(GLUE) if r < .38 else rng.choice(VERBS) if r < .48 else self.identifier() if r < .53 else self.word())
        return " ".join(out).capitalize() + "."

    def text(self, size):
        parts, n = [], 0
        while n < size:
            parts.append(self.sentence())
            n += len(parts[-1]) + 1
        return " ".join(parts)

    def path(self):
        return "src/%s/%s.%s" % (self.word(), self.word(), self.rng.choice(("c", "py", "ts", "go", "rs")))

    def chinese(self, words):
        """Words of two signs each, drawn as the others are; nothing stands between them."""
        return "".join(chr(0x4e00 + n % 1500) + chr(0x4e00 + n * 7 % 1500) for n in
                       (self.rng.choices(range(4000), weights=CHINESE_WEIGHTS)[0] for _ in range(words)))

    def session(self, folder, number, turns, project, output=600, chinese=False):
        """Writes one transcript. Gives its size."""
        rng = self.rng
        sid = "%08x-0000-4000-8000-%012x" % (rng.getrandbits(32), number)
        at, lines = 1700000000 + number * 3600, []
        last, n = None, 0

        def line(kind, message, **more):
            nonlocal last, n, at
            n += 1
            at += rng.randint(1, 20)
            d = {"parentUuid": last, "isSidechain": False, "cwd": project, "sessionId": sid, "version": "2.1.0", "gitBranch": "main",
                 "type": kind, "message": message, "uuid": "%08x-%04x-4000-8000-%012x" % (number, n & 0xffff, n),
                 "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(at)), **more}
            last = d["uuid"]
            lines.append(json.dumps(d))

        for t in range(turns):
            line("user", {"role": "user", "content": "Please make sure that " + self.sentence()}, promptId="%08x-%d" % (number, t))
            for k in range(2):
                use, path = "toolu_%d_%d_%d" % (number, t, k), self.path()
                name, arguments = ("Edit", {"file_path": project + "/" + path, "old_string": self.word(), "new_string": self.word()}) if k else \
                    ("Bash", {"command": "make " + self.word(), "description": self.sentence()})
                line("assistant", {"id": "msg_%d_%d_%d" % (number, t, k), "role": "assistant", "model": "m",
                                   "content": [{"type": "tool_use", "id": use, "name": name, "input": arguments}]})
                line("user", {"role": "user", "content": [{"type": "tool_result", "tool_use_id": use, "content": self.text(output)}]})
            line("assistant", {"id": "msg_%d_%d" % (number, t), "role": "assistant", "model": "m", "content": [{"type": "text", "text":
                 self.sentence() + "\n\n## Cause\n\n" + (self.chinese(80) + "。" if chinese else self.text(500)) + "\n\n## Changes\n\n- " + "\n- ".join(
                     "`%s`: %s" % (self.path(), self.sentence()) for _ in range(3)) + "\n\nNext: " + self.sentence()}]})
        path = pathlib.Path(folder) / (sid + ".jsonl")
        path.write_text("\n".join(lines) + "\n")
        return path.stat().st_size

    def write(self, folder, turns, projects=20, per_session=20, chinese=False):
        folder = pathlib.Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        return sum(self.session(folder, n, per_session, "/srv/project-%02d" % (n % projects), chinese=chinese) for n in range(max(1, turns // per_session)))

    def some_words(self, least, most):
        return " ".join(self.rng.choice(GLUE) if self.rng.random() < .35 else self.word() for _ in range(self.rng.randint(least, most)))

    def questions(self, n):
        """(kind, words): as people and agents ask, a mix stated in docs/benchmarks.md."""
        makers = (
            ("one word", self.word),
            ("one rare word", lambda: self.words[self.rng.randrange(5000, len(self.words))]),
            ("2-6 words", lambda: self.some_words(2, 6)),
            ("2-6 words", lambda: self.some_words(2, 6)),
            ("7-12 words", lambda: self.some_words(7, 12)),
            ("7-12 words", lambda: self.some_words(7, 12)),
            ("identifier", self.identifier),
            ("4 common words", lambda: " ".join(self.words[self.rng.randrange(12)] for _ in range(4))),
            ("filter", lambda: self.some_words(2, 12) + self.rng.choice((" kind:summary", " after:2023-12-20", " kind:tool before:2024-01-20"))),
            ("no hit or Chinese", lambda: self.rng.choice(("zzq%dx" % self.rng.randrange(1000), self.chinese(2)))),
        )
        return [(kind, make()) for kind, make in (makers[i % len(makers)] for i in range(n))]
