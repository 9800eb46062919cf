"""Answers that are well, however they come, and those that are less than whole."""
import gzip
import json
import time
import zlib

from .request import behaviour
from .shapes import Ollama, Openai


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
def empty_cut(r):
    """Thinks, and neither shows nor counts it."""
    r.stream("", "cut")


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
