#!/usr/bin/env python3
"""A scripted model server: plays named behaviours of the servers that language models are asked at.

    python3 tests/model_server.py [PORTFILE]      # prints (or writes) http://127.0.0.1:PORT and serves until it is ended

The address says the behaviour: http://127.0.0.1:PORT/BEHAVIOUR is the base address to give a client. Behind a "~" may stand a name, so that
tests do not count each other's requests: /flaky~7. The paths below it are those of OpenAI (/v1/chat/completions, /v1/models), Ollama
(/api/chat, /api/tags), Anthropic (/v1/messages) and Gemini (/v1beta/models/NAME:streamGenerateContent); each answers in its own shape.
Embeddings: OpenAI's /v1/embeddings, Ollama's /api/embed and /api/embeddings, and an orchestrator's /api/jobs and /api/tools; their vectors have
DIMS numbers and say how many words two texts share. The behaviours are in tests/behaviours; "live" plays what was set last.

    GET  /_log        the requests so far: [{"at", "behaviour", "path", "headers", "body", "connection"}]
    POST /_set        {"live": "quota"}   {"dims": 384}   {"text": "what the model answers"}   {"texts": ["first", "second"]}: each once, then `text`
    POST /_reset      forgets requests, counters and texts
    POST /_open       lets go of what waits (the behaviours that fall silent)
"""
import contextlib
import http.server
import json
import os
import re
import socket
import sys
import threading
import time

from behaviours.embeddings import EMBEDDINGS, Embedding, embed  # noqa: F401: tests say by it what a vector should be
from behaviours.request import BEHAVIOURS, Request
from behaviours.shapes import DIMS, MODEL, TEXT, Jobs, OllamaEmbed, Openai, OpenaiEmbed, shape_of


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version, timeout = "HTTP/1.1", 300

    def log_message(self, *args):
        pass

    def setup(self):
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def reply(self, value, status=200):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def control(self, body):
        s = self.server
        with s.lock:
            if self.path == "/_log":
                self.reply(s.log)
                return
            if self.path == "/_set":
                s.state.update(json.loads(body))
            elif self.path == "/_reset":
                s.clear()
            elif self.path == "/_open":
                s.gate.set()
                s.gate = threading.Event()
        self.reply({})

    def models(self, name, path):
        """The lists of models, for the look whether a server is there."""
        if path.startswith("/api/jobs/"):
            self.reply(self.server.look(path[len("/api/jobs/"):]))
        elif path.startswith("/api/tools"):
            self.reply([{"id": "whisper", "status": "running"}, {"id": "ollama", "status": "stopped" if name == "job-stopped" else "running"}])
        elif path.startswith("/api/version"):
            self.reply({"version": "0.17.4"})
        elif name in BEHAVIOURS and not name.startswith("ok"):
            BEHAVIOURS[name](Request(self, Openai, name, b""))
        elif path.startswith("/api/tags"):
            self.reply({"models": [{"name": MODEL + ":latest"}]})
        elif path.startswith("/v1beta"):
            self.reply({"name": path[len("/v1beta/"):]}, 200 if path.endswith(MODEL) else 404)
        else:
            self.reply({"data": [{"id": MODEL}, {"id": "other"}]})

    def do(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path.startswith("/_"):
            return self.control(body)
        match = re.match(r"/([^/]+)(/.*)", self.path)
        full, path = match.groups() if match else ("", self.path)
        name = self.server.state["live"] if full == "live" else full
        behaviour_name, shape = name.split("~")[0], shape_of(path)
        with self.server.lock:
            self.server.log.append({"at": time.time(), "behaviour": name, "path": path, "headers": {k.lower(): v for k, v in self.headers.items()},
                                    "body": body.decode("utf-8", "replace")[:200000], "connection": "%s:%d" % self.client_address})
        if self.command == "GET":
            self.models(behaviour_name, path)
        elif shape in (OpenaiEmbed, OllamaEmbed, Jobs) and behaviour_name in EMBEDDINGS:
            EMBEDDINGS[behaviour_name](Embedding(Request(self, shape, name, body)))
        elif behaviour_name not in BEHAVIOURS or not shape:
            self.reply({"error": {"message": "the script knows no '%s' at %s" % (behaviour_name, path)}}, 500)
        else:
            BEHAVIOURS[behaviour_name](Request(self, shape, name, body))

    do_GET = do_POST = do

    def handle_one_request(self):
        try:
            super().handle_one_request()
        except (ConnectionError, OSError, ValueError):
            self.close_connection = True


class Server(http.server.ThreadingHTTPServer):
    daemon_threads, request_queue_size = True, 256

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.bomb = None
        self.lock, self.gate = threading.RLock(), threading.Event()
        self.clear()

    @property
    def url(self):
        return "http://127.0.0.1:%d" % self.server_address[1]

    def clear(self):
        self.log, self.counts, self.state = [], {}, {"live": "ok", "text": TEXT, "texts": [], "dims": DIMS}
        self.jobs = {}

    def count(self, name):
        with self.lock:
            self.counts[name] = self.counts.get(name, 0) + 1
            return self.counts[name]

    def job(self, r, result, pending=1, number=False):
        """Takes in a job that is done after so many looks."""
        with self.lock:
            id = len(self.jobs) + 1
            self.jobs[str(id)] = [pending, result]
        r.whole(200, {"job_id": id if number else str(id)})

    def look(self, id):
        with self.lock:
            job = self.jobs.get(id)
            if not job:
                return {"status": "failed", "error": "no such job"}
            job[0] -= 1
            return {"job_id": id, **(job[1] if job[0] < 0 else {"status": "pending" if job[0] > 0 else "running"})}

    def next_text(self):
        with self.lock:
            return self.state["texts"].pop(0) if self.state["texts"] else self.state["text"]

    def handle_error(self, request, client_address):
        pass


def serve_in_thread():
    """For tests in this process: the server, already running. End it with .shutdown()."""
    server = Server()
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    return server


@contextlib.contextmanager
def running():
    """The server for as long as a block runs; what still waits for an answer then is let go of."""
    server = serve_in_thread()
    try:
        yield server
    finally:
        server.gate.set()
        server.shutdown()


if __name__ == "__main__":
    s = Server()
    if len(sys.argv) > 1:
        with open(sys.argv[1] + ".new", "w") as f:
            f.write(s.url + "\n")
        os.rename(sys.argv[1] + ".new", sys.argv[1])
    else:
        print(s.url, flush=True)
    s.serve_forever()
