"""The behaviours by their names, and what each of them can do with a request."""
import json
import socket
import struct

from .shapes import Anthropic, parts_of

BEHAVIOURS = {}


def behaviour(*names):
    def keep(function):
        for name in names or (function.__name__.replace("_", "-"),):
            BEHAVIOURS[name] = function
        return function
    return keep


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
