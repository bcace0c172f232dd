#!/usr/bin/env python3
"""A new PostgreSQL and two nodes of `settle serve` over it, until Ctrl-C; then all is removed.

    serve.py [--settle PATH] [--nodes 2] [--port 5984]
"""
import signal

from nodes import Fleet, main, parser

options = parser(__doc__, nodes=2)
options.add_argument("--port", type=int, default=5984, help="of the first node; the others have the next ones")


def serve(given):
    fleet = Fleet(given, given.nodes)
    for number, node in enumerate(fleet.nodes):
        node.wish = given.port + number
        node.start()
        print(f"{node.name}: http://admin:{fleet.password}@127.0.0.1:{node.port}")
    print("The administrator is admin, the password", fleet.password)
    if fleet.cluster:
        print(f"PostgreSQL: PGPASSFILE={fleet.cluster.passwords} psql '{fleet.cluster.string('settle_owner')}'")
    print("Ctrl-C ends and removes all.", flush=True)
    signal.pause()


main(serve, options.parse_args())
