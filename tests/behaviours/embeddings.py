"""Embeddings: what is asked for, and what servers do with it."""
import re
import zlib

from .shapes import MODEL, Jobs, OllamaEmbed, OpenaiEmbed


def embed(text, dims):
    """A direction for each word, added up."""
    vector = [0.0] * dims
    for word in re.findall(r"\w+", text.lower()) or [""]:
        seed = zlib.crc32(word.encode())
        for i in range(dims):
            seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
            vector[i] += (seed >> 16 & 255) - 127.5
    return vector


class Embedding:
    """What a request for embeddings asks, and the vectors for it."""

    def __init__(self, r):
        self.r, body = r, r.json
        self.path = r.h.path.split("?")[0]
        if r.shape is Jobs:
            body = body["input_params"]
        texts = body.get("input", body.get("prompt"))
        self.texts = texts if isinstance(texts, list) else [texts]
        self.vectors = [embed(t, r.server.state["dims"]) for t in self.texts]

    def send(self, vectors=None, order=None):
        vectors = self.vectors if vectors is None else vectors
        if self.r.shape is OpenaiEmbed:
            rows = [{"object": "embedding", "index": i, "embedding": v} for i, v in enumerate(vectors)]
            self.r.whole(200, {"object": "list", "data": order(rows) if order else rows, "model": MODEL, "usage": {"prompt_tokens": 7 * len(rows)}})
        elif self.path.endswith("/api/embeddings"):
            self.r.whole(200, {"embedding": vectors[0] if vectors else []})
        elif self.r.shape is OllamaEmbed:
            self.r.whole(200, {"model": MODEL, "embeddings": vectors, "prompt_eval_count": 7 * len(vectors)})
        else:
            self.r.server.job(self.r, {"status": "completed", "output": {"embedding": vectors[0] if vectors else []}})


EMBEDDINGS = {
    "ok": lambda e: e.send(),
    "shuffled": lambda e: e.send(order=lambda rows: rows[::-1]),
    "wrong-dims": lambda e: e.send([v[:-1] for v in e.vectors] if e.r.count() > 1 else None),
    "ragged": lambda e: e.send([v[:len(v) - i] for i, v in enumerate(e.vectors)]),
    "short": lambda e: e.send(e.vectors[:-1]),
    "long": lambda e: e.send([*e.vectors, e.vectors[0]]),
    "doubled": lambda e: e.send(order=lambda rows: [rows[0]] * len(rows)),
    "zero": lambda e: e.send([[0] * len(v) for v in e.vectors]),
    "nulls": lambda e: e.send([[None] * len(v) for v in e.vectors]),
    "none": lambda e: e.send([[] for _ in e.vectors]),
    "old": lambda e: e.r.whole(404, b"404 page not found", "text/plain") if e.path.endswith("/api/embed") else e.send(),
    "no-v1": lambda e: e.r.whole(404, b"404 page not found", "text/plain") if "/v1/" in e.path else e.send(),
    "one-too-long": lambda e: e.r.fail(400, "invalid_request_error", "maximum context length is 64 tokens") if max(map(len, e.texts)) > 200 else e.send(),
    "job-failed": lambda e: e.r.server.job(e.r, {"status": "failed", "error": "CUDA out of memory"}),
    "job-model": lambda e: e.r.server.job(e.r, {"status": "failed", "error": 'model "x" not found'}),
    "job-never": lambda e: e.r.server.job(e.r, {"status": "running"}, pending=0),
    "job-slow": lambda e: e.r.server.job(e.r, {"status": "completed", "output": {"embedding": e.vectors[0]}}, pending=4),
    "job-no-id": lambda e: e.r.whole(200, {"status": "accepted"}),
    "job-evil-id": lambda e: e.r.whole(200, {"job_id": "../../_log"}),
    "job-number": lambda e: e.r.server.job(e.r, {"status": "completed", "output": {"embedding": e.vectors[0]}}, number=True),
}
