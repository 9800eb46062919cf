#!/usr/bin/env python3
"""A scripted model server: plays named behaviours of the servers that language models are asked at.

    python3 tests/model_server.py [PORTFILE]      # prints (or writes) http://127.0.0.1:PORT and serves until it is ended

The address says the behaviour: http://127.0.0.1:PORT/BEHAVIOUR is the base address to give a client. Behind a "~" may stand a name, so that
tests do not count each other's requests: /flaky~7. The paths below it are those of OpenAI (/v1/chat/completions, /v1/models), Ollama
(/api/chat, /api/tags), Anthropic (/v1/messages) and Gemini (/v1beta/models/NAME:streamGenerateContent); each answers in its own shape. Embeddings: OpenAI's /v1/embeddings, Ollama's /api/embed and /api/embeddings, and an orchestrator's /api/jobs
and /api/tools; their vectors have DIMS numbers and say how many words two texts share.
The behaviour "live" plays what was set last.

    GET  /_log        the requests so far: [{"at", "behaviour", "path", "headers", "body", "connection"}]
    POST /_set        {"live": "quota"}   {"dims": 384}   {"text": "what the model answers"}   {"texts": ["first", "second"]}: each once, then `text`
    POST /_reset      forgets requests, counters and texts
    POST /_open       lets go of what waits (the behaviours that fall silent)
"""
import contextlib
import email.utils
import gzip
import http.server
import json
import re
import socket
import struct
import sys
import threading
import time
import zlib

TEXT = '{"title": "Ünïcode 日本 🎉", "body": "The parser reads é, 語 and 👩‍👩‍👧 now."}'
MODEL = "scripted-1"
DIMS = 48
MB = 1 << 20
BEHAVIOURS = {}


def behaviour(*names):
    def keep(function):
        for name in names or (function.__name__.replace("_", "-"),):
            BEHAVIOURS[name] = function
        return function
    return keep


# --- The four shapes. An event is a JSON object; how it is sent is the shape's business. ---

class Openai:
    streams, lines, type = True, False, "text/event-stream; charset=utf-8"

    @staticmethod
    def start():
        return [{"id": "c1", "object": "chat.completion.chunk", "model": MODEL, "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]}]

    @staticmethod
    def text(t):
        return {"model": MODEL, "choices": [{"index": 0, "delta": {"content": t}, "finish_reason": None}]}

    @staticmethod
    def thought(t):
        return {"model": MODEL, "choices": [{"index": 0, "delta": {"reasoning_content": t}}]}

    @staticmethod
    def end(reason):
        reason = {"stop": "stop", "cut": "length", "filter": "content_filter"}[reason]
        return [{"model": MODEL, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
                {"model": MODEL, "choices": [], "usage": {"prompt_tokens": 120, "completion_tokens": 34, "total_tokens": 154}}]

    mark = b"data: [DONE]\n\n"

    @staticmethod
    def refusal(t):
        return [{"model": MODEL, "choices": [{"index": 0, "delta": {"refusal": t}, "finish_reason": "stop"}]}]

    @staticmethod
    def whole(t, thought=None):
        return {"id": "c1", "object": "chat.completion", "model": MODEL,
                "choices": [{"index": 0, "message": {"role": "assistant", "content": t, "reasoning_content": thought}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 120, "completion_tokens": 34}}

    @staticmethod
    def error(status, kind, message):
        return {"error": {"message": message, "type": kind, "param": None, "code": kind}}


class Ollama:
    streams, lines, type, mark = True, True, "application/x-ndjson", b""

    @staticmethod
    def start():
        return []

    @staticmethod
    def text(t):
        return {"model": MODEL, "created_at": "2026-11-29T00:00:00Z", "message": {"role": "assistant", "content": t}, "done": False}

    @staticmethod
    def thought(t):
        return {"model": MODEL, "message": {"role": "assistant", "content": "", "thinking": t}, "done": False}

    @staticmethod
    def end(reason):
        return [{"model": MODEL, "message": {"role": "assistant", "content": ""}, "done": True,
                 "done_reason": {"stop": "stop", "cut": "length", "filter": "stop"}[reason],
                 "total_duration": 14153000000, "load_duration": 5000000, "prompt_eval_count": 120, "prompt_eval_duration": 929000000,
                 "eval_count": 34, "eval_duration": 1619000000}]

    @staticmethod
    def refusal(t):
        return [Ollama.text(t)] + Ollama.end("stop")

    @staticmethod
    def whole(t, thought=None):
        return {**Ollama.end("stop")[0], "message": {"role": "assistant", "content": t, "thinking": thought or ""}}

    @staticmethod
    def error(status, kind, message):
        return {"error": message}


class Anthropic:
    streams, lines, type, mark = True, False, "text/event-stream", b""
    uses_tool = False

    @staticmethod
    def start():
        return [{"type": "message_start", "message": {"id": "m1", "type": "message", "role": "assistant", "model": MODEL, "content": [],
                                                      "stop_reason": None, "usage": {"input_tokens": 100, "cache_read_input_tokens": 20, "output_tokens": 1}}},
                {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}, {"type": "ping"}]

    @staticmethod
    def text(t):
        return {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": t}}

    @staticmethod
    def tool(t):
        return {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": t}}

    @staticmethod
    def thought(t):
        return {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": t}}

    @staticmethod
    def end(reason):
        reason = {"stop": "end_turn", "cut": "max_tokens", "filter": "refusal"}[reason]
        return [{"type": "content_block_stop", "index": 0},
                {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": {"output_tokens": 34}}, {"type": "message_stop"}]

    @staticmethod
    def refusal(t):
        return [Anthropic.text(t)] + Anthropic.end("filter")

    @staticmethod
    def whole(t, thought=None):
        blocks = [{"type": "thinking", "thinking": thought}] if thought else []
        return {"id": "m1", "type": "message", "role": "assistant", "model": MODEL, "content": blocks + [{"type": "text", "text": t}],
                "stop_reason": "end_turn", "usage": {"input_tokens": 120, "output_tokens": 34}}

    @staticmethod
    def error(status, kind, message):
        return {"type": "error", "error": {"type": kind, "message": message}}


class Gemini:
    streams, lines, type, mark = True, False, "text/event-stream", b""

    @staticmethod
    def start():
        return []

    @staticmethod
    def text(t):
        return {"candidates": [{"content": {"parts": [{"text": t}], "role": "model"}, "index": 0}], "modelVersion": MODEL,
                "usageMetadata": {"promptTokenCount": 120}}

    @staticmethod
    def thought(t):
        return {"candidates": [{"content": {"parts": [{"text": t, "thought": True}], "role": "model"}}], "modelVersion": MODEL}

    @staticmethod
    def end(reason):
        reason = {"stop": "STOP", "cut": "MAX_TOKENS", "filter": "SAFETY"}[reason]
        return [{"candidates": [{"content": {"parts": [{"text": ""}], "role": "model"}, "finishReason": reason}], "modelVersion": MODEL,
                 "usageMetadata": {"promptTokenCount": 120, "candidatesTokenCount": 30, "thoughtsTokenCount": 4}}]

    @staticmethod
    def refusal(t):
        return [{"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 120}, "modelVersion": MODEL}]

    @staticmethod
    def whole(t, thought=None):
        parts = ([{"text": thought, "thought": True}] if thought else []) + [{"text": t}]
        return {**Gemini.end("stop")[0], "candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]}

    @staticmethod
    def error(status, kind, message):
        status_name = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED"}.get(status, "INTERNAL")
        return {"error": {"code": status, "message": message, "status": status_name, "details": [{"reason": kind}]}}


class OpenaiEmbed(Openai):
    pass


class OllamaEmbed(Ollama):
    pass


class Jobs(Openai):
    pass


SHAPES = {"openai": Openai, "ollama": Ollama, "anthropic": Anthropic, "gemini": Gemini}


def shape_of(path):
    path = path.split("?")[0]
    for end, shape in (("/chat/completions", Openai), ("/api/chat", Ollama), ("/messages", Anthropic), (":streamGenerateContent", Gemini),
                       ("/embeddings", OpenaiEmbed), ("/api/embed", OllamaEmbed), ("/api/jobs", Jobs)):
        if path.endswith("/api/embeddings"):
            return OllamaEmbed
        if path.endswith(end):
            return shape
    return None


def parts_of(text, n=5):
    step = max(1, len(text) // n)
    return [text[i:i + step] for i in range(0, len(text), step)]


# --- What every behaviour can do. ---

class Request:
    def __init__(self, handler, shape, name, body):
        self.h, self.shape, self.name = handler, shape, name
        self.server, self.body = handler.server, body
        self.started = False

    @property
    def json(self):
        return json.loads(self.body or b"{}")

    def text(self):
        return self.server.next_text()

    def pieces(self, t):
        wants_tool = self.shape is Anthropic and "tool_choice" in self.json
        return [Anthropic.tool(p) if wants_tool else self.shape.text(p) for p in parts_of(t)]

    def events(self, t, reason="stop"):
        return [*self.shape.start(), *self.pieces(t), *self.shape.end(reason)]

    def render(self, event, crlf=False):
        data = json.dumps(event, ensure_ascii=False).encode()
        if self.shape.lines:
            return data + (b"\r\n" if crlf else b"\n")
        kind = b"event: " + event["type"].encode() + b"\n" if "type" in event else b""
        out = kind + b"data: " + data + b"\n\n"
        return out.replace(b"\n", b"\r\n") if crlf else out

    def stream_bytes(self, t, reason="stop", crlf=False):
        return b"".join(self.render(e, crlf) for e in self.events(t, reason)) + self.shape.mark

    # sending
    def head(self, status=200, type=None, length=None, **headers):
        self.h.send_response(status)
        self.h.send_header("Content-Type", type or self.shape.type)
        for name, value in headers.items():
            self.h.send_header(name.replace("_", "-"), value)
        if length is None:
            self.h.send_header("Transfer-Encoding", "chunked")
        else:
            self.h.send_header("Content-Length", str(length))
        self.h.end_headers()
        self.started = True

    def chunk(self, data):
        if data:
            self.h.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def finish(self):
        self.h.wfile.write(b"0\r\n\r\n")

    def whole(self, status, data, type="application/json", **headers):
        data = data if isinstance(data, bytes) else json.dumps(data).encode()
        self.head(status, type, len(data), **headers)
        self.h.wfile.write(data)

    def fail(self, status, kind, message, **headers):
        self.whole(status, self.shape.error(status, kind, message), **headers)

    def stream(self, t=None, reason="stop"):
        self.head()
        for event in self.events(self.text() if t is None else t, reason):
            self.chunk(self.render(event))
        self.chunk(self.shape.mark)
        self.finish()

    def reset(self):
        self.h.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.h.close_connection = True
        self.h.connection.close()

    def hang_up(self):
        self.h.close_connection = True

    def silence(self):
        """Until the client is gone or the test says so."""
        self.h.close_connection = True
        self.h.connection.settimeout(0.05)
        gate = self.server.gate
        while not gate.is_set():
            try:
                if not self.h.connection.recv(1):
                    return
            except TimeoutError:
                continue
            except OSError:
                return

    def count(self):
        return self.server.count(self.name)


# --- Answers that are well. ---

@behaviour("ok", "ok-v1")
def ok(r):
    r.stream()


@behaviour()
def queued(r):
    """Half a second in the queue, as a server with durations of its own tells: 0.1 s of work, and 3 s of which it does not say what they were."""
    time.sleep(0.5)
    events = r.events(r.text())
    if r.shape is Ollama:
        events[-1].update(total_duration=3600000000, load_duration=0, prompt_eval_duration=0, eval_duration=100000000)
    r.head()
    for event in events:
        r.chunk(r.render(event))
    r.chunk(r.shape.mark)
    r.finish()


@behaviour()
def gated(r):
    """Well, but not before the test says so."""
    r.server.gate.wait(60)
    r.stream()


@behaviour()
def ok_bytes(r):
    """Every byte in a chunk of its own: characters are cut in the middle."""
    r.head()
    r.h.wfile.write(b"".join(b"1\r\n%c\r\n" % b for b in r.stream_bytes(r.text())))
    r.finish()


@behaviour()
def ok_gzip(r):
    r.whole(200, gzip.compress(r.stream_bytes(r.text())), r.shape.type, Content_Encoding="gzip")


@behaviour()
def ok_deflate_pieces(r):
    packer = zlib.compressobj(wbits=31)
    r.head(Content_Encoding="gzip")
    for e in r.events(r.text()):
        r.chunk(packer.compress(r.render(e)) + packer.flush(zlib.Z_SYNC_FLUSH))
    r.chunk(packer.compress(r.shape.mark) + packer.flush())
    r.finish()


@behaviour()
def ok_whole(r):
    """A server that does not stream, whatever it is asked."""
    r.whole(200, r.shape.whole(r.text()))


@behaviour()
def ok_pretty(r):
    r.whole(200, json.dumps(r.shape.whole(r.text()), indent=2).encode())


@behaviour()
def ok_crlf(r):
    r.head()
    if not r.shape.lines:
        r.chunk(b"\xef\xbb\xbf: hello\r\n\r\nretry: 100\r\n\r\n")
    data = r.stream_bytes(r.text(), crlf=True)
    for i in range(0, len(data), 7):
        r.chunk(data[i:i + 7])
    r.finish()


@behaviour()
def ok_no_mark(r):
    """Ends without [DONE]; the reason to finish was said."""
    r.head()
    for e in r.events(r.text()):
        r.chunk(r.render(e))
    r.finish()


@behaviour()
def ok_until_close(r):
    """Neither length nor chunks: HTTP/1.0's way to end."""
    r.h.send_response(200)
    r.h.send_header("Content-Type", r.shape.type)
    r.h.send_header("Connection", "close")
    r.h.end_headers()
    r.h.wfile.write(r.stream_bytes(r.text()))
    r.hang_up()


@behaviour()
def ok_drip(r):
    """Slow, but never silent for long."""
    r.head()
    for e in r.events(r.text()):
        r.chunk(r.render(e))
        time.sleep(0.15)
    r.chunk(r.shape.mark)
    r.finish()


@behaviour()
def ok_then_reset(r):
    """All was said; then the connection breaks instead of ending."""
    r.head()
    r.chunk(r.stream_bytes(r.text()))
    time.sleep(0.2)  # a reset overtakes what the client has not read
    r.reset()


@behaviour()
def ok_parts(r):
    """OpenAI's content as an array of parts, one of them thinking."""
    r.whole(200, {**Openai.whole(""), "choices": [{"message": {"content": [{"type": "thinking", "thinking": [{"text": "hmm"}]}, {"type": "text", "text": r.text()}]}, "finish_reason": "stop"}]})


@behaviour()
def bad_utf8(r):
    r.head()
    r.chunk(r.stream_bytes("a\ufffdb").replace("\ufffd".encode(), b"\xff\xfe"))
    r.finish()


@behaviour()
def bad_event(r):
    """One event in the middle is not JSON."""
    r.head()
    events = r.events(r.text())
    for i, e in enumerate(events):
        r.chunk(r.render(e))
        if i == 0:
            r.chunk(b"{broken\n" if r.shape.lines else b"data: {broken\n\n")
    r.chunk(r.shape.mark)
    r.finish()


@behaviour()
def thinking(r):
    r.head()
    for e in [*r.shape.start(), r.shape.thought("Let me think"), r.shape.thought(" about it."), *r.pieces(r.text()), *r.shape.end("stop")]:
        r.chunk(r.render(e))
    r.chunk(r.shape.mark)
    r.finish()


@behaviour()
def thinking_whole(r):
    r.whole(200, r.shape.whole(r.text(), "Let me think."))


@behaviour()
def thinking_only(r):
    """The tokens were spent before an answer began."""
    r.head()
    for e in [*r.shape.start(), r.shape.thought("Let me think about it for ever"), *r.shape.end("cut")]:
        r.chunk(r.render(e))
    r.chunk(r.shape.mark)
    r.finish()


@behaviour()
def cut(r):
    r.stream('{"items": [{"title": "one", "body": "whole"}, {"title": "tw', "cut")


@behaviour()
def empty(r):
    r.stream("")


@behaviour()
def blank(r):
    r.stream(" \n \t")


@behaviour()
def empty_body(r):
    r.whole(200, b"", r.shape.type)


@behaviour()
def refusal(r):
    r.head()
    for e in [*r.shape.start(), *r.shape.refusal("I cannot help with that.")]:
        r.chunk(r.render(e))
    r.chunk(r.shape.mark)
    r.finish()


@behaviour()
def filtered(r):
    r.stream("half of an ans", "filter")


# --- Not an answer. ---

PAGE = b"<!DOCTYPE html>\n<html><head><title>Sign in to\n Corporate Wi-Fi</title></head><body>" + b"<p>x</p>" * 500 + b"</body></html>"


@behaviour()
def page(r):
    r.whole(200, PAGE, "text/html; charset=utf-8")


@behaviour()
def page_502(r):
    r.whole(502, PAGE.replace(b"Sign in to\n Corporate Wi-Fi", b"502 Bad Gateway"), "text/html")


@behaviour()
def page_403(r):
    r.whole(403, PAGE.replace(b"Sign in to\n Corporate Wi-Fi", b"Attention required"), "text/html")


@behaviour()
def page_404(r):
    r.whole(404, PAGE.replace(b"Sign in to\n Corporate Wi-Fi", b"Not Found"), "text/html")


@behaviour()
def prose(r):
    r.whole(200, b"The service is being updated.\nPlease come back.", "text/plain")


@behaviour()
def alien(r):
    r.whole(200, {"hello": "world"})


@behaviour()
def image(r):
    r.whole(200, b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40, "image/png")


@behaviour()
def not_http(r):
    r.h.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n" * 3)
    r.hang_up()


@behaviour()
def bad_gzip(r):
    r.whole(200, b"this is not gzip at all", r.shape.type, Content_Encoding="gzip")


@behaviour()
def redirect(r):
    r.whole(301, b"", Location="https://example.invalid/")


# --- Refusals of the server. ---

@behaviour()
def rate(r):
    r.fail(429, "rate_limit_exceeded", "Rate limit reached for requests")


@behaviour()
def rate_seconds(r):
    r.fail(429, "rate_limit_error", "Number of requests has exceeded your rate limit", Retry_After="7")


@behaviour()
def rate_date(r):
    r.fail(429, "rate_limit_error", "Too many requests", Retry_After=email.utils.formatdate(time.time() + 90, usegmt=True))


@behaviour()
def rate_ms(r):
    r.fail(429, "rate_limit_error", "Too many requests", Retry_After="3", retry_after_ms="2500")


@behaviour()
def rate_absurd(r):
    r.fail(429, "rate_limit_error", "Too many requests", Retry_After="99999999999999999999")


@behaviour()
def rate_nonsense(r):
    r.fail(429, "rate_limit_error", "Too many requests", Retry_After="soon, perhaps")


@behaviour()
def rate_minute(r):
    """Google says 'billing' for a limit of a minute."""
    body = Gemini.error(429, "", "You exceeded your current quota, please check your plan and billing details.")
    body["error"]["details"] = [{"violations": [{"quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]}, {"retryDelay": "34s"}]
    r.whole(429, body)


@behaviour()
def rate_day(r):
    body = Gemini.error(429, "", "You exceeded your current quota.")
    body["error"]["details"] = [{"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}]
    r.whole(429, body)


@behaviour()
def quota(r):
    r.fail(429, "insufficient_quota", "You exceeded your current quota, please check your plan and billing details.")


@behaviour()
def quota_400(r):
    r.fail(400, "invalid_request_error", "Your credit balance is too low to access the API.")


@behaviour()
def payment(r):
    r.fail(402, "payment", "Insufficient Balance")


@behaviour()
def auth(r):
    r.fail(401, "authentication_error", "invalid key")


@behaviour()
def auth_echo(r):
    """Repeats the key that it was sent."""
    sent = " ".join(v for k, v in r.h.headers.items() if k.lower() in ("authorization", "x-api-key", "x-goog-api-key"))
    r.fail(401, "invalid_api_key", "Incorrect API key provided: " + sent)


@behaviour()
def auth_400(r):
    r.fail(400, "API_KEY_INVALID", "API key not valid. Please pass a valid API key.")


@behaviour()
def auth_plain(r):
    r.whole(401, b"Unauthorized", "text/plain")


@behaviour()
def renewed(r):
    """The key "old" is no longer taken."""
    if any("old" in v for k, v in r.h.headers.items() if k.lower() == "authorization"):
        r.fail(401, "authentication_error", "token has expired")
    else:
        r.stream()


@behaviour()
def forbidden(r):
    r.fail(403, "permission_error", "Your project does not have access to this.")


@behaviour()
def busy(r):
    r.fail(503, "overloaded", "server busy, please try again. maximum pending requests exceeded")


@behaviour()
def overloaded(r):
    r.fail(529, "overloaded_error", "Overloaded")


@behaviour()
def loading(r):
    r.fail(503, "unavailable_error", "Loading model")


@behaviour()
def error_500(r):
    r.fail(500, "server_error", "The server had an error while processing your request")


@behaviour()
def error_500_empty(r):
    r.whole(500, b"")


@behaviour()
def error_lists(r):
    """An array with the error in it."""
    r.whole(500, [{"error": {"code": 500, "message": "An internal error has occurred", "status": "INTERNAL"}}])


@behaviour()
def error_detail(r):
    """As FastAPI says it."""
    r.whole(422, {"detail": [{"loc": ["body", "messages"], "msg": "field required", "type": "value_error.missing"}]})


@behaviour()
def flaky(r):
    """Fails twice, then is well."""
    if r.count() <= 2:
        r.fail(500, "server_error", "try again")
    else:
        r.stream()


@behaviour()
def model_unknown(r):
    r.fail(404, "model_not_found", "The model `x` does not exist or you do not have access to it.")


@behaviour()
def model_unknown_flat(r):
    r.whole(404, {"error": 'model "x" not found, try pulling it first'})


@behaviour()
def model_unknown_400(r):
    r.fail(400, "invalid_request_error", "x is not a valid model ID")


@behaviour()
def no_path(r):
    r.whole(404, b"404 page not found", "text/plain")


@behaviour()
def too_long(r):
    r.fail(400, "context_length_exceeded", "This model's maximum context length is 4096 tokens. However, your messages resulted in 9000 tokens.")


@behaviour()
def too_long_413(r):
    r.whole(413, b"Request Entity Too Large", "text/plain")


@behaviour()
def error_in_stream(r):
    r.head()
    for e in [*r.shape.start(), *r.pieces("half an ans"), r.shape.error(500, "server_error", "An error occurred")]:
        r.chunk(r.render(e))
    r.finish()


@behaviour()
def overloaded_in_stream(r):
    r.head()
    for e in [*r.shape.start(), r.shape.error(529, "overloaded_error", "Overloaded")]:
        r.chunk(r.render(e))
    r.finish()


@behaviour()
def coded_in_stream(r):
    """A gateway that tells the status of the server behind it inside the stream."""
    r.head()
    for e in [*r.shape.start(), {"error": {"code": 402, "message": "Provider returned error"}}]:
        r.chunk(r.render(e))
    r.finish()


# --- What a server does not take. ---

def has_format(r):
    return any(w in r.json for w in ("response_format", "format", "tools")) or "responseMimeType" in r.json.get("generationConfig", {})


def has_schema(r):
    j = r.json
    return (j.get("response_format", {}).get("type") == "json_schema" or isinstance(j.get("format"), dict) or "tools" in j
            or "responseJsonSchema" in j.get("generationConfig", {}))


@behaviour()
def no_schema(r):
    if has_schema(r):
        r.fail(400, "invalid_request_error", "'response_format.type' must be 'json_object' or 'text'; tools, responseJsonSchema are not known")
    else:
        r.stream()


@behaviour()
def no_json(r):
    if has_format(r):
        r.fail(400, "invalid_request_error", "response_format is not supported by this model")
    else:
        r.stream()


@behaviour()
def no_extras(r):
    """Says no without saying to what."""
    if has_format(r):
        r.whole(422, {"detail": "Extra inputs are not permitted"})
    else:
        r.stream()


@behaviour()
def schema_500(r):
    if has_schema(r):
        r.fail(500, "server_error", "invalid JSON schema in format")
    else:
        r.stream()


@behaviour()
def always_400(r):
    r.fail(400, "invalid_request_error", "something is wrong")


@behaviour()
def no_usage(r):
    if "stream_options" in r.json:
        r.fail(400, "invalid_request_error", "Unrecognized request argument supplied: stream_options")
    else:
        r.stream()


@behaviour()
def new_names(r):
    if "max_tokens" in r.json:
        r.fail(400, "unsupported_parameter", "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
    elif "temperature" in r.json:
        r.fail(400, "unsupported_value", "Unsupported value: 'temperature' does not support 0 with this model.")
    else:
        r.stream()


@behaviour()
def no_v1(r):
    """Its path has no version."""
    if "/v1/" in r.h.path:
        r.whole(404, b"404 page not found", "text/plain")
    else:
        r.stream()


# --- Slow, silent, broken. ---

@behaviour()
def slow_headers(r):
    r.silence()


@behaviour()
def slow_body(r):
    r.head()
    r.silence()


@behaviour()
def stall(r):
    r.head()
    for e in [*r.shape.start(), *r.pieces("half an ans")]:
        r.chunk(r.render(e))
    r.silence()


@behaviour()
def header_drip(r):
    """A header line now and then, for ever."""
    try:
        r.h.wfile.write(b"HTTP/1.1 200 OK\r\n")
        while not r.server.gate.is_set():
            r.h.wfile.write(b"X-Wait: a little longer\r\n")
            time.sleep(0.1)
    except OSError:
        pass
    r.hang_up()


@behaviour()
def reset(r):
    r.reset()


@behaviour()
def reset_middle(r):
    r.head()
    for e in [*r.shape.start(), *r.pieces("half an ans")]:
        r.chunk(r.render(e))
    time.sleep(0.2)
    r.reset()


@behaviour()
def close(r):
    r.hang_up()


@behaviour()
def close_middle(r):
    """The connection ends between two chunks, without the last one."""
    r.head()
    for e in [*r.shape.start(), *r.pieces("half an ans")]:
        r.chunk(r.render(e))
    r.hang_up()


@behaviour()
def end_middle(r):
    """The body ends as it should, but the answer did not."""
    r.head()
    for e in [*r.shape.start(), *r.pieces("half an ans")]:
        r.chunk(r.render(e))
    r.finish()


@behaviour()
def short_body(r):
    data = r.stream_bytes(r.text())
    r.head(length=len(data) + 100)
    r.h.wfile.write(data[:len(data) // 2])
    r.hang_up()


@behaviour()
def stale(r):
    """Closes a connection that the client wants to use again, without a word."""
    if r.count() % 2 == 1:
        r.stream()
        r.hang_up()
    else:
        r.stream()


def flood(r, make):
    try:
        while not r.server.gate.is_set():
            r.chunk(make())
    except OSError:
        pass
    r.hang_up()


@behaviour()
def big(r):
    """50 MB of text, piece by piece."""
    piece = r.render(r.shape.text("word " * 200))
    try:
        r.head()
        for _ in range(50 * MB // 1000):
            r.chunk(piece)
        r.chunk(b"".join(map(r.render, r.shape.end("stop"))) + r.shape.mark)
        r.finish()
    except OSError:
        r.hang_up()


@behaviour()
def big_line(r):
    """50 MB in one event."""
    data = r.render(r.shape.text("x" * (50 * MB)))
    try:
        r.whole(200, data, r.shape.type)
    except OSError:
        r.hang_up()


@behaviour()
def big_error(r):
    try:
        r.whole(500, b'{"error": {"message": "' + b"y" * (50 * MB) + b'"}}')
    except OSError:
        r.hang_up()


@behaviour()
def bomb(r):
    """Half a gigabyte of zeros in half a megabyte of gzip."""
    with r.server.lock:
        if not r.server.bomb:
            packer = zlib.compressobj(1, wbits=31)
            r.server.bomb = b"".join(packer.compress(bytes(MB)) for _ in range(512)) + packer.flush()
    data = r.server.bomb
    try:
        r.whole(200, data, r.shape.type, Content_Encoding="gzip")
    except OSError:
        r.hang_up()


@behaviour()
def endless(r):
    r.head()
    piece = r.render(r.shape.text("and so on "))
    flood(r, lambda: piece)


@behaviour()
def endless_slow(r):
    """A word now and then, for ever: only the total time ends it."""
    r.head()
    piece = r.render(r.shape.text("and so on "))
    flood(r, lambda: time.sleep(0.1) or piece)


@behaviour()
def endless_pings(r):
    r.head()
    flood(r, lambda: time.sleep(0.05) or (b"\n" if r.shape.lines else b": ping\n\n"))


@behaviour()
def endless_thinking(r):
    r.head()
    piece = r.render(r.shape.thought("hmm " * 4000))
    flood(r, lambda: piece)


@behaviour()
def endless_blanks(r):
    r.head()
    flood(r, lambda: b" " * 60000)


# --- Embeddings. ---

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


# --- The server. ---

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
        import os
        os.rename(sys.argv[1] + ".new", sys.argv[1])
    else:
        print(s.url, flush=True)
    s.serve_forever()
