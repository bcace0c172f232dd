"""Many clients in one thread, each with one request under way, lean so that it is not the client that is measured."""
import re
import selectors
import socket
import time

from nodes import Unavailable

LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.I)


class Connection:
    def __init__(self, node):
        self.socket = socket.create_connection(("127.0.0.1", node.port), timeout=120)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.received, self.needed, self.sent = b"", None, 0.0

    def send(self, request):
        self.received, self.needed, self.sent = b"", None, time.perf_counter()
        self.socket.sendall(request)

    def receive(self):
        """Reads on; whether the answer is there."""
        piece = self.socket.recv(1 << 20)
        if not piece:
            raise Unavailable("a node closed the connection")
        if not self.received:
            # Most answers come in one piece; a longer one grows in place.
            self.received = piece
        else:
            if isinstance(self.received, bytes):
                self.received = bytearray(self.received)
            self.received += piece
        if self.needed is None:
            if (end := self.received.find(b"\r\n\r\n")) < 0:
                return False
            length = LENGTH.search(self.received[:end + 2])
            # In chunks if there is no length.
            self.needed = end + 4 + int(length[1]) if length else 0
        return len(self.received) >= self.needed if self.needed else self.received.endswith(b"\r\n0\r\n\r\n")

    def body(self, good=(200, 201)):
        """What was received, without its head and the marks of chunks."""
        if int(self.received[9:12]) not in good:
            raise Unavailable(f"a request was refused: {bytes(self.received[:600])!r}")
        place = self.received.index(b"\r\n\r\n") + 4
        if self.needed:
            return self.received[place:]
        parts = []
        while True:
            end = self.received.index(b"\r\n", place)
            size = int(self.received[place:end], 16)
            if size == 0:
                return b"".join(parts)
            parts.append(self.received[end + 2:end + 2 + size])
            place = end + 4 + size

    def exchange(self, request):
        self.send(request)
        while not self.receive():
            pass
        return self.body()


def request(fleet, method, path, body=b""):
    """The bytes of a request."""
    length = f"Content-Length: {len(body)}\r\n" if method in ("PUT", "POST") else ""
    return f"{method} {path} HTTP/1.1\r\n{head_of(fleet)}{length}\r\n".encode() + body


def head_of(fleet):
    """The fields of a request that are always the same."""
    fields = {"Host": "settle", "Content-Type": "application/json"} | fleet.fields
    return "".join(f"{name}: {value}\r\n" for name, value in fields.items())


def rush(nodes, requests, clients, seconds):
    """Lets clients at nodes in turn send requests of an iterator; how many a second were answered, and all times in ms."""
    connections = [Connection(nodes[number % len(nodes)]) for number in range(clients)]
    selector, times = selectors.DefaultSelector(), []
    began = time.perf_counter()
    end, under_way = began + seconds, 0
    for connection in connections:
        selector.register(connection.socket, selectors.EVENT_READ, connection)
        connection.send(next(requests))
        under_way += 1
    while under_way:
        for key, _ in selector.select(timeout=120):
            connection = key.data
            if not connection.receive():
                continue
            now = time.perf_counter()
            times.append((now - connection.sent) * 1000)
            connection.body()
            following = next(requests, None) if now < end else None
            if following:
                connection.send(following)
            else:
                under_way -= 1
    took = time.perf_counter() - began
    for connection in connections:
        connection.socket.close()
    return len(times) / took, sorted(times)
