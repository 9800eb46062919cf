"""Searches as they are asked over the socket: by kind of question, warm and cold, one client and several beside an import, and what
waits for nobody while texts are embedded. Figures are the daemon's own, from a request read to its reply rendered (`took_ms`), and
processor time where the system tells it, which other programs on the machine do not change."""
import json
import os
import pathlib
import socket
import sqlite3
import threading
import time

FIGURE = "p50 <= 1 ms, p95 <= 3 ms"
FIGURES = {"lexical": FIGURE, "hybrid": "p95 <= 12 ms at 100,000, <= 40 ms at 1,000,000"}
IMPORT_TURNS = 2000
CLIENTS = 4


def percentile(values, p):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * p))]


def spread(values):
    return "p50 %.2f, p95 %.2f, p99 %.2f" % tuple(percentile(values, p) for p in (.5, .95, .99)) if values else "nothing measured"


def cpu_ms(pid):
    """Of the threads that answer requests so far; None where the system does not say."""
    try:
        threads = [t for t in pathlib.Path("/proc/%d/task" % pid).iterdir() if (t / "comm").read_text().startswith("MHD")]
        return sum(int((t / "schedstat").read_text().split()[0]) for t in threads) / 1e6 if threads else None
    except (OSError, ValueError, IndexError):
        return None


class Connection:
    """One request after another over the socket, as the client does."""

    def __init__(self, rem):
        self.path = str(rem.home / "run" / "socket")

    def post(self, operation, **params):
        body = json.dumps(params).encode()
        s = socket.socket(socket.AF_UNIX)
        s.connect(self.path)
        s.sendall(b"POST /api/%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
                  % (operation.encode(), len(body)) + body)
        data = b""
        while True:
            piece = s.recv(1 << 20)
            if not piece:
                break
            data += piece
        s.close()
        reply = json.loads(data.split(b"\r\n\r\n", 1)[1])
        assert "error" not in reply, reply
        return reply


class Times:
    """Of questions by kind: milliseconds that passed, and of processor time."""

    def __init__(self):
        self.took, self.cpu, self.kinds = [], [], {}

    def add(self, kind, took, cpu):
        for took_list, cpu_list in ((self.took, self.cpu), self.kinds.setdefault(kind, ([], []))):
            took_list.append(took)
            if cpu is not None:
                cpu_list.append(cpu)

    def rows(self, row, what, figure, by_kind=True):
        row(what, figure, spread(self.took) + " ms", "processor time %s ms" % spread(self.cpu) if self.cpu else "")
        for kind, (took, cpu) in sorted(self.kinds.items()) if by_kind else ():
            row("    " + kind, "", spread(took) + " ms", "processor time %s ms" % spread(cpu) if cpu else "")


def ask(rem, questions, mode="lexical", scope="all", with_cpu=True, project="all"):
    c, times = Connection(rem), Times()
    pid = c.post("status")["pid"] if with_cpu else 0
    for kind, query in questions:
        before = cpu_ms(pid) if pid else None
        reply = c.post("search", query=query, project=project, scope=scope, mode=mode)
        after = cpu_ms(pid) if pid else None
        times.add(kind, reply["took_ms"], after - before if before is not None and after is not None else None)
    return times


def warm(rem, row, questions, mode="lexical", scopes=("memories", "all", "sessions")):
    ask(rem, questions[:100], mode=mode)
    for scope in scopes:
        ask(rem, questions, mode=mode, scope=scope).rows(row, "search, %s, %s" % (mode, scope), FIGURES[mode])
    asked = ask(rem, [q for q in questions if q[0] == "2-6 words"], mode=mode, project="project-03")
    asked.rows(row, "search, %s, all, one project of twenty, 2-6 words" % mode, FIGURES[mode], by_kind=False)


def drop_cache(rem):
    """The daemon has left: what it had mapped is held by nobody."""
    os.sync()
    for path in rem.home.rglob("*"):
        if path.is_file() and not path.is_symlink():
            fd = os.open(path, os.O_RDONLY)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(fd)


def cold(rem, row, questions, mode="lexical", ready=lambda: True):
    firsts, times = [], Times()
    for i in range(5):
        rem.run("stop")
        drop_cache(rem)
        start = time.perf_counter()
        rem.run("--json", "search", "anything", "--project", "all", "--limit", "1")
        firsts.append((time.perf_counter() - start) * 1000)
        ready()
        asked = ask(rem, questions[i * 40:(i + 1) * 40], mode=mode)
        for kind, (took, cpu) in asked.kinds.items():
            for n, ms in enumerate(took):
                times.add(kind, ms, cpu[n] if n < len(cpu) else None)
    row("cold start to first answer, page cache dropped", "", "%.0f ms min, %.0f ms max" % (min(firsts), max(firsts)))
    times.rows(row, "search, %s, all, the first 40 after it" % mode, "", by_kind=False)


def clients(rem, row, corpus, questions, mode="lexical"):
    """Several at once while sessions are imported."""
    folder = rem.scratch / ("import-%d" % time.time())
    corpus.write(folder, IMPORT_TURNS)
    importer = threading.Thread(target=lambda: rem.run("import", folder, timeout=3600))
    lock, all_times = threading.Lock(), Times()

    def client(n):
        while importer.is_alive():
            times = ask(rem, questions[n::CLIENTS][:50], mode=mode, with_cpu=False)
            with lock:
                for kind, (took, _) in times.kinds.items():
                    for ms in took:
                        all_times.add(kind, ms, None)

    importer.start()
    threads = [threading.Thread(target=client, args=(n,)) for n in range(CLIENTS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    importer.join()
    all_times.rows(row, "search, %s, all, %d clients beside an import" % (mode, CLIENTS), "", by_kind=False)


def embedding(rem, row, model, others, wait_for):
    """Installs the model; `others` are measured while it works, if there is work enough."""
    rem.run("model", "install", model)
    wait_for(lambda: rem.json("status")["embedder"]["on"], "the embedder is on", 120)
    left = rem.json("status")["embedder"]["waiting"]
    others("while %d changes wait to be embedded" % left)


def embedded(rem, row, wait_for):
    """Waits until everything is."""
    start, before = time.perf_counter(), rem.json("status")["embedder"]["made"]
    wait_for(lambda: not rem.json("status")["embedder"]["waiting"], "everything is embedded", 6 * 3600)
    status = rem.json("status")["embedder"]
    made, seconds = status["made"] - before, time.perf_counter() - start
    if made:
        row("embedding, until all is", "", "%d vectors in %.0f s" % (made, seconds), "%.1f ms each" % (seconds * 1000 / made))
    row("disk a vector", "<= 0.55 KB", "%.0f bytes" % (status["bytes"] / max(1, status["vectors"])), "%d vectors" % status["vectors"])


def hybrid(rem, row, corpus, questions, wait_for):
    """The daemon embeds each question and answers by words and by meaning."""
    def ready():
        """Vectors are opened and checked in the background: until then words alone answer."""
        wait_for(lambda: Connection(rem).post("search", query="ready?", project="all", limit=1, mode="auto")["mode"] == "hybrid", "vectors are open", 600)

    ready()
    warm(rem, row, questions, "hybrid")
    cold(rem, row, questions, "hybrid", ready)
    ready()
    clients(rem, row, corpus, questions, "hybrid")


def fts5(rem, row, texts, questions):
    path = rem.scratch / "fts.db"
    path.unlink(missing_ok=True)
    db = sqlite3.connect(path)
    db.execute("CREATE VIRTUAL TABLE t USING fts5(body, tokenize='porter unicode61')")
    db.executemany("INSERT INTO t(body) VALUES (?)", ((t,) for t in texts))
    db.commit()
    times = Times()
    for kind, q in questions:
        if kind == "filter":
            continue
        words = " OR ".join('"%s"' % w.replace('"', "") for w in q.split())
        start, cpu = time.perf_counter(), time.thread_time()
        db.execute("SELECT rowid, bm25(t) FROM t WHERE t MATCH ? ORDER BY bm25(t) LIMIT 20", (words,)).fetchall()
        times.add(kind, (time.perf_counter() - start) * 1000, (time.thread_time() - cpu) * 1000)
    times.rows(row, "    peer: SQLite FTS5, texts of the memories, no filter", "")
    row("    its file", "", "%.2f KB a memory" % (path.stat().st_size / 1024 / max(1, len(texts))))
    db.close()
