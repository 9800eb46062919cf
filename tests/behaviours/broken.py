"""Servers that are slow, silent or broken, or never end."""
import itertools
import time
import zlib

from .request import behaviour

MB = 1 << 20


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
    piece = r.render(r.shape.text("".join("word %d " % i for i in range(130))))
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
    words = itertools.count()
    flood(r, lambda: r.render(r.shape.text("and so on, for the time of number %d " % next(words))))


@behaviour()
def going_round(r):
    """What a small model does at the end of its wits."""
    r.head()
    r.chunk(r.render(r.shape.text('{"items": [{"title": "one", "body": "whole"}, {"title": "two", "body": "')))
    piece = r.render(r.shape.text("and so on "))
    flood(r, lambda: piece)


@behaviour()
def endless_slow(r):
    """A word now and then, for ever: only the total time ends it."""
    r.head()
    words = itertools.count()
    flood(r, lambda: time.sleep(0.1) or r.render(r.shape.text("and so on, for the time of number %d " % next(words))))


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
