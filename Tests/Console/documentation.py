"""The pictures of the console in its documentation."""
import os

from room import Visit, refuse_tea

PICTURES = [("databases", "#/", 1280), ("documents", "#/groceries/docs?q=count%20%3E%2030&fields=name,count", 1280), ("editor", "#/groceries/doc/milk", 1280),
            ("inspector", "#/groceries/conflict/milk", 1180), ("inspector-telephone", "#/groceries/conflict/milk", 360), ("settle-many", "#/groceries/settle", 1280),
            ("view", "#/groceries/design/shop", 1280), ("replication", "#/replication/_replicator%2Fstrict", 1280)]


def take_pictures(server, chromium, folder):
    os.makedirs(folder, exist_ok=True)
    refuse_tea(server)
    for name, where, width in PICTURES:
        for scheme in ("light", "dark"):
            visit = Visit(chromium, server, width=width, scheme=scheme)
            visit.log_in()
            visit.go(where)
            visit.page.set_viewport_size({"width": width, "height": 690})
            visit.page.wait_for_timeout(800)
            path = os.path.join(folder, f"{name}-{scheme}.png")
            visit.page.screenshot(path=path)
            print(f"{path} {os.path.getsize(path):,} bytes")
            visit.close()
