"""What the scripts that measure views and queries share: their arguments, a connection, documents of about 470 bytes."""
import argparse
import json
import time

from connection import Connection, content

parser = argparse.ArgumentParser()
parser.add_argument("--url", required=True)
parser.add_argument("--user", default="admin")
parser.add_argument("--password", required=True)
parser.add_argument("--pid", type=int, help="not looked at")
parser.add_argument("--documents", type=int, default=50000)
parser.add_argument("--runs", type=int, default=3)
options = parser.parse_args()
connection = Connection(options.url, options.user, options.password)


def ask(method, path, body=None):
    data = b"" if body is None else json.dumps(body).encode()
    return content(connection.ask(method, path, data, good=(200, 201, 202, 404, 412)))


def timed(body):
    start = time.perf_counter()
    result = body()
    return time.perf_counter() - start, result


def rate(requests):
    """How many of these are answered in a second, each made before the clock starts."""
    made = [connection.request(method, path, b"" if body is None else json.dumps(body).encode())
            for method, path, body in requests]
    seconds, _ = timed(lambda: [connection.exchange(request) for request in made])
    return len(made) / seconds


def document(number):
    return {
        "_id": f"doc{number:08}", "type": "item", "n": number, "group": number % 100, "name": f"Item number {number}",
        "tags": ["a", "b", f"t{number % 17}"], "text": "x" * 280, "price": number * 0.25,
        "owner": {"id": number % 1000, "name": f"Owner {number % 1000}"},
    }
