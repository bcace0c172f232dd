"""What the scripts that measure a server over HTTP share: their arguments, a connection, documents of about 470 bytes."""
import argparse
import base64
import http.client
import json
import time
import urllib.parse

parser = argparse.ArgumentParser()
parser.add_argument("--url", required=True)
parser.add_argument("--user", default="admin")
parser.add_argument("--password", required=True)
parser.add_argument("--pid", type=int, help="not looked at")
parser.add_argument("--documents", type=int, default=50000)
parser.add_argument("--runs", type=int, default=3)
options = parser.parse_args()
place = urllib.parse.urlparse(options.url)
token = base64.b64encode(f"{options.user}:{options.password}".encode()).decode()
connection = http.client.HTTPConnection(place.hostname, place.port, timeout=600)


def ask(method, path, body=None):
    data = None if body is None else json.dumps(body)
    headers = {"Authorization": "Basic " + token, "Content-Type": "application/json"}
    connection.request(method, path, data, headers)
    answer = connection.getresponse()
    content = answer.read()
    if answer.status >= 400 and answer.status not in (404, 412):
        raise SystemExit(f"{method} {path}: {answer.status} {content[:300]!r}")
    return content


def timed(body):
    start = time.perf_counter()
    result = body()
    return time.perf_counter() - start, result


def document(number):
    return {
        "_id": f"doc{number:08}", "type": "item", "n": number, "group": number % 100, "name": f"Item number {number}",
        "tags": ["a", "b", f"t{number % 17}"], "text": "x" * 280, "price": number * 0.25,
        "owner": {"id": number % 1000, "name": f"Owner {number % 1000}"},
    }
