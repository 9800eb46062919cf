"""A proxy in front of a server that adds a delay, as a network does, and counts round trips: how often somebody waited for an answer."""
import collections
import socket
import threading
import time


class Proxy:
    """Listens on a port of its own. `delay` is seconds for each way; what is sent together arrives together."""

    def __init__(self, port, delay=0.0):
        self.port, self.delay, self.trips, self.bytes, self.is_over = port, delay, 0, 0, False
        self.lock = threading.Lock()
        self.door = socket.create_server(("127.0.0.1", 0))
        self.address = self.door.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while not self.is_over:
            try:
                client, _ = self.door.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self.port))
            turn = {"is_client": False}  # whose bytes came last
            for a, b, is_client in ((client, server, True), (server, client, False)):
                a.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                Way(self, a, b, is_client, turn)

    def count(self, n, is_client, turn):
        with self.lock:
            self.bytes += n
            self.trips += turn["is_client"] and not is_client
            turn["is_client"] = is_client

    def close(self):
        self.is_over = True
        self.door.close()


class Way:
    """One direction of one connection: a thread reads, another writes what is due."""

    def __init__(self, proxy, source, sink, is_client, turn):
        self.proxy, self.source, self.sink, self.is_client, self.turn = proxy, source, sink, is_client, turn
        self.waiting, self.wake = collections.deque(), threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()
        if proxy.delay:
            threading.Thread(target=self.write, daemon=True).start()

    def read(self):
        data = b"-"
        while data:
            try:
                data = self.source.recv(1 << 18)
            except OSError:
                data = b""
            self.proxy.count(len(data), self.is_client, self.turn)
            if not self.proxy.delay:
                self.send(data)
                continue
            with self.wake:
                self.waiting.append((time.monotonic() + self.proxy.delay, data))
                self.wake.notify()

    def write(self):
        data = b"-"
        while data:
            with self.wake:
                while not self.waiting:
                    self.wake.wait()
                due, data = self.waiting.popleft()
            time.sleep(max(0, due - time.monotonic()))
            self.send(data)

    def send(self, data):
        try:
            if data:
                self.sink.sendall(data)
            else:
                self.sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass
