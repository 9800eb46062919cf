"""What makes the vectors of the benchmark: a real small model for a pool of sections and for questions; the rest are neighbours of the pool's.

A section whose heading names it (R0001234) gets the vector of a section of the pool plus noise of a fixed length, always the same. Anything
else is a question and is embedded really. The model's 384 numbers are written twice, over the root of two: 768 numbers with the very
same cosines, since no real model with so many is small enough."""
import http.server
import json
import math
import random
import re
import threading
import time
import urllib.request

DIMS = 768
NOISE = .25  # of a vector's length: a neighbour's cosine with what it was made of is .97
NOISES = 1024
NAME = re.compile(r"\bR(\d{7})\b")


def unit(v):
    length = math.sqrt(sum(x * x for x in v))
    return [x / length for x in v]


class Embedder:
    def __init__(self, ollama, model="all-minilm"):
        self.ollama, self.model, self.pool, self.asked = ollama, model, [], []
        dice = random.Random(4)
        self.noises = [[x * NOISE for x in unit([dice.gauss(0, 1) for _ in range(DIMS)])] for _ in range(NOISES)]
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = "http://127.0.0.1:%d" % self.server.server_address[1]

    def really(self, texts):
        """Vectors by the real model."""
        body = json.dumps({"model": self.model, "input": texts}).encode()
        request = urllib.request.Request(self.ollama + "/api/embed", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=600) as reply:
            return [unit(v + v) for v in json.load(reply)["embeddings"]]

    def fill(self, texts, batch=64):
        for i in range(0, len(texts), batch):
            self.pool += self.really(texts[i:i + batch])

    def vector(self, number):
        of, noise = self.pool[number % len(self.pool)], self.noises[number // len(self.pool) * 31 % NOISES]
        return [a + b for a, b in zip(of, noise)]

    def text(self, number):
        return ",".join(["%.5f" % x for x in self.vector(number)])

    def vectors(self, texts):
        """As JSON. Times of questions are kept."""
        names = [NAME.search(t) for t in texts]
        if all(names):
            return ["[%s]" % self.text(int(m.group(1))) for m in names]
        start = time.perf_counter()
        made = [json.dumps(v) for v in self.really(texts)]
        self.asked.append(time.perf_counter() - start)
        return made

    def handler(self):
        embedder = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                texts = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
                items = ['{"object":"embedding","index":%d,"embedding":%s}' % (i, v) for i, v in enumerate(embedder.vectors(texts))]
                body = ('{"object":"list","model":"bench","data":[%s],"usage":{"prompt_tokens":0,"total_tokens":0}}' % ",".join(items)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                head, self._headers_buffer = b"".join(self._headers_buffer), []
                self.wfile.write(head + b"\r\n" + body)  # at once: in two pieces the second waits for an acknowledgement

            def log_message(self, *_):
                pass
        return Handler
