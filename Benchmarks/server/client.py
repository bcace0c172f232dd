"""Connects a script to a server, its own or a given one, and makes documents of about 470 bytes."""
import json
import resource
import time

from connection import Connection
from options import parser, process, program
from processes import Server, scratch


def server_options(text):
    """The options of a script that measures a server."""
    options = parser(text)
    which = options.add_mutually_exclusive_group(required=True)
    which.add_argument("--settle", type=program, metavar="PROGRAM", help="the tool, built for release: measures a server of its own")
    which.add_argument("--url", help="measures a server that runs; --user and --password are those of an administrator")
    options.add_argument("--user", default="admin")
    options.add_argument("--password", default="admin")
    options.add_argument("--pid", type=process, help="the process of the server at --url, for its memory and its processor time")
    return options


def reach(options, needs_process=False, check=None):
    """The arguments, which `check` may refuse first. With --settle there is a server on a new folder now; without, there must be one."""
    given = options.parse_args()
    if needs_process and not (given.settle or given.pid):
        options.error("--pid is needed beside --url")
    if check:
        check(options, given)
    # Each of thousands of feeds is an open file, here and at a server that is started here.
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if given.settle:
        server = Server(given.settle, scratch("benchmark"), given.password, user=given.user)
        given.url, given.pid = server.url, server.pid
    connect(given).socket.close()
    return given


def connect(given):
    return Connection(given.url, given.user, given.password)


def timed(body):
    start = time.perf_counter()
    result = body()
    return time.perf_counter() - start, result


def rush(connection, requests):
    """The seconds that these take, each made before the clock starts, and the answers."""
    made = [connection.request(method, path, b"" if body is None else json.dumps(body).encode())
            for method, path, body in requests]
    return timed(lambda: [connection.exchange(request) for request in made])


def document(number):
    return {
        "_id": f"doc{number:08}", "type": "item", "n": number, "group": number % 100, "name": f"Item number {number}",
        "tags": ["a", "b", f"t{number % 17}"], "text": "x" * 280, "price": number * 0.25,
        "owner": {"id": number % 1000, "name": f"Owner {number % 1000}"},
    }


def fill(connection, database, count):
    """Makes a database anew, with so many documents."""
    connection.ask_json("DELETE", database)
    connection.ask_json("PUT", database + "?q=1")
    for start in range(0, count, 1000):
        docs = [document(number) for number in range(start, min(start + 1000, count))]
        connection.ask_json("POST", database + "/_bulk_docs", {"docs": docs})
