"""A connection to a server, lean, so that it is not the client that is measured."""
import base64
import json
import re
import socket
from urllib.parse import urlsplit


class Connection:
    def __init__(self, url, user, password):
        place = urlsplit(url)
        self.host, self.port = place.hostname, place.port or 80
        self.login = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
        self.fields = {"Accept": "application/json", "Content-Type": "application/json", "Authorization": self.login}
        try:
            self.socket = socket.create_connection((self.host, self.port))
        except OSError as reason:
            raise SystemExit(f"no server answers at {url}: {reason}") from None
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def request(self, method, path, body=b""):
        """The bytes of a request."""
        head = "".join(f"{name}: {value}\r\n" for name, value in self.fields.items())
        if method in ("PUT", "POST"):
            head += f"Content-Length: {len(body)}\r\n"
        return f"{method} {path} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\n{head}\r\n".encode() + body

    def exchange(self, request):
        """Sends the bytes of a request; the status and the body of its answer, which may be in chunks."""
        self.socket.sendall(request)
        received = b""
        while (end := received.find(b"\r\n\r\n")) < 0:
            received += self.receive()
        head, body = received[:end].lower(), bytearray(received[end + 4:])
        length = re.search(rb"\r\ncontent-length: *(\d+)", head)
        if length:
            while len(body) < int(length[1]):
                body += self.receive()
        else:
            while not body.endswith(b"\r\n0\r\n\r\n"):
                body += self.receive()
        return int(head[9:12]), bytes(body)

    def receive(self):
        piece = self.socket.recv(1 << 20)
        if not piece:
            raise SystemExit("the server closed the connection")
        return piece

    def ask(self, method, path, body=b"", good=(200, 201)):
        status, answer = self.exchange(self.request(method, path, body))
        if status not in good:
            raise SystemExit(f"{method} {path}: {status} {answer[:200]!r}")
        return answer

    def ask_json(self, method, path, body=None, good=(200, 201, 202, 404, 409, 412)):
        """The answer to a value, both of them JSON."""
        data = b"" if body is None else json.dumps(body).encode()
        return json.loads(content(self.ask(method, path, data, good)))


def content(body):
    """A body without the ends of its chunks, if it has any."""
    if body.startswith((b"{", b"[")):
        return body
    parts, place = [], 0
    while True:
        end = body.index(b"\r\n", place)
        length = int(body[place:end], 16)
        if length == 0:
            return b"".join(parts)
        parts.append(body[end + 2:end + 2 + length])
        place = end + 2 + length + 2
