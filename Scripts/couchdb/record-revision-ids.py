#!/usr/bin/env python3
"""Writes documents to a real CouchDB and records the revision ids it answers with.

    Scripts/couchdb/record-revision-ids.py http://admin:admin@127.0.0.1:5984 Tests/SettleCoreTests/Fixtures

Makes revision-ids.json and compressed-attachments.json anew. The documents are the same in every run, because the
random ones come from a fixed seed. Python 3's standard library is all it needs.
"""
import base64
import json
import random
import sys
import urllib.error
import urllib.parse
import urllib.request


class Recorder:
    """One database of the CouchDB, and the steps done to it."""

    def __init__(self, base, name):
        parts = urllib.parse.urlsplit(base)
        self.base = "%s://%s:%d" % (parts.scheme, parts.hostname, parts.port or 5984)
        login = "%s:%s" % (parts.username or "", parts.password or "")
        self.login = "Basic " + base64.b64encode(login.encode()).decode()
        self.name = name
        self.steps = []
        self.revisions = {}
        self.version = self.send("GET", "/")[1]["version"]
        self.send("DELETE", "/" + name)
        self.send("PUT", "/" + name)

    def send(self, method, path, body=None, content_type="application/json"):
        request = urllib.request.Request(self.base + path, body, method=method)
        request.add_header("Authorization", self.login)
        if body is not None:
            request.add_header("Content-Type", content_type)
        try:
            with urllib.request.urlopen(request) as answer:
                return answer.status, json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read())

    def step(self, name, method, identifier, tail="", body=None, query=None, content_type=None, **recorded):
        """Does one step and records it with what was answered."""
        query = dict(query or {})
        old = self.revisions.get(identifier)
        if method == "DELETE" or tail:
            if old:
                query["rev"] = old
        path = "/%s/%s%s" % (self.name, identifier, tail)
        full = path + ("?" + urllib.parse.urlencode(query) if query else "")
        status, answer = self.send(method, full, body, content_type or "application/json")
        step = {"name": name, "method": method, "path": path.replace(self.name, "{db}", 1)}
        if query:
            step["query"] = query
        if content_type:
            step["headers"] = {"Content-Type": content_type}
        step.update(recorded)
        if status in (200, 201):
            self.revisions[identifier] = answer["rev"]
            if method == "DELETE" and not tail or '"_deleted":true' in recorded.get("text", ""):
                # A new edit becomes a child of the tombstone without naming it.
                del self.revisions[identifier]
            step["expect"] = {"status": status, "json": {"rev": answer["rev"]}}
        else:
            step["expect"] = {"status": status, "json": {"error": answer["error"], "reason": answer["reason"]}}
        self.steps.append(step)
        return answer

    def put(self, name, identifier, text, query=None):
        """Writes a document that is given as JSON text; `_rev` goes in front where the document is there."""
        old = self.revisions.get(identifier)
        sent = text
        if old and query is None:
            rest = text[1:].lstrip()
            sent = '{"_rev":"%s"%s%s' % (old, "" if rest.startswith("}") else ",", rest)
        return self.step(name, "PUT", identifier, body=sent.encode("utf-8", "surrogatepass"), query=query, text=sent)

    def save(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write('{"recorded":"CouchDB %s","steps":[\n' % self.version)
            file.write(",\n".join(json.dumps(step, separators=(",", ":")) for step in self.steps))
            file.write("\n]}\n")
        refused = sum(1 for step in self.steps if step["expect"]["status"] not in (200, 201))
        print("%s: %d steps, %d of them refused" % (path, len(self.steps), refused))
        self.send("DELETE", "/" + self.name)


def data(content):
    return base64.b64encode(content).decode()


def integers():
    # CouchDB answers 500 to integers of more than about 307 digits.
    edges = [0, 1, 127, 128, 254, 255, 256, 32767, 65535, 65536]
    for power in (27, 28, 31, 32, 53, 59, 60, 62, 63, 64, 65, 127, 128, 255, 256, 512, 1000):
        edges += [2**power - 1, 2**power, 2**power + 1]
    edges += [10**power for power in (18, 19, 20, 40, 100, 300)]
    for edge in edges:
        for number in sorted({edge, -edge}):
            yield '{"n":%d}' % number


def floats():
    spelled = ["1.0", "-1.0", "0.0", "-0.0", "-0", "1e3", "1E3", "1e+3", "1.5e-7", "1e-7", "1e15", "1e16", "1e17", "1e21",
               "1e22", "1e23", "1e100", "1e308", "1.7976931348623157e308", "2.2250738585072014e-308", "5e-324", "0.1",
               "0.2", "0.30000000000000004", "3.14159", "100.0", "1.10", "123456789.125", "9007199254740993.0",
               "4.35", "1e-10", "0.00001", "0.0001", "12345678901234567890.0", "2.5e0", "-3.75E2"]
    for text in spelled:
        yield '{"n":%s}' % text
    chance = random.Random(3501)
    for _ in range(60):
        yield '{"n":%r}' % (chance.uniform(-1, 1) * 10.0 ** chance.randint(-30, 30))


def strings():
    plain = ["", "a", "ä", "ß", "€", "日本語", "\U0001F600", "a\U0001F600b", "\u0000", "\u001f", "\u007f", "\u0080",
             "\u07ff", "\u0800", "\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0010ffff", "e\u0301", "\u200b",
             "\u2028", "\"", "\\", "/", "\b\f\n\r\t", "x" * 255, "x" * 256, "x" * 65535, "x" * 65536]
    for text in plain:
        yield json.dumps({"s": text}, ensure_ascii=False)
        yield json.dumps({text: 1}, ensure_ascii=False) if not text.startswith("_") else '{"_":1}'
    for escaped in (r"\u0041", r"\u00e4", r"\ud83d\ude00", r"\uD83D\uDE00", r"\/", r"\u002f", r"\u0000", r"\u001F",
                    r"\ud7ff", r"\ue000", r"\uffff", r"\ud800", r"\udfff", r"\ude00\ud83d", r"\ud83dx",
                    r"a\ud83d\ude00\ud83d\ude01z"):
        yield '{"s":"%s"}' % escaped
        yield '{"%s":"name"}' % escaped


def structures():
    yield from ("{}", '{"a":null}', '{"a":true}', '{"a":false}', '{"a":{}}', '{"a":[]}', '{"a":[[]]}', '{"a":[{}]}',
                '{"a":1,"b":2}', '{"b":2,"a":1}', '{"a":1,"a":2}', '{"a":1,"b":2,"a":3}', '{"":1}', '{"a":{"b":{"c":1}}}',
                '{ "a" : [ 1 , 2 ] }', '{"a":[1,[2,[3,[4]]]]}', '{"a":[null,true,false]}', '{"a":["x","y"]}',
                '{"a":[1.0]}', '{"a":[1,2.0]}', '{"a":{"_id":"inner","_rev":"1-x","_x":1}}')
    yield '{"a":%s1%s}' % ("[" * 200, "]" * 200)
    yield "{%s}" % ",".join('"m%d":%d' % (number, number) for number in range(300))
    # Lists of bytes have a special form, up to a length.
    for numbers in ([0], [255], [256], [-1], [1, 2, 3], [0, 255], [255, 256], [1, -1], [1, "a"], [1, None], [1, [2]],
                    list(range(256)), [7] * 255, [7] * 256, [300] * 3):
        yield json.dumps({"l": numbers})
        yield json.dumps({"l": [numbers, {"inner": numbers}]})
    for count in (65535, 65536):
        yield json.dumps({"l": [7] * count}, separators=(",", ":"))


def random_values():
    chance = random.Random(3502)

    def text():
        alphabet = ["a", "b", "z", "0", " ", "\n", "\"", "\\", "ä", "€", "語", "\U0001F600", "\u0001"]
        return "".join(chance.choice(alphabet) for _ in range(chance.randint(0, 12)))

    def value(depth):
        kind = chance.randint(0, 9 if depth else 6)
        if kind == 0:
            return chance.choice([None, True, False])
        if kind in (1, 2):
            return chance.choice([chance.randint(-300, 300), chance.getrandbits(chance.randint(1, 200))])
        if kind == 3:
            return chance.uniform(-1e6, 1e6)
        if kind in (4, 5, 6):
            return text()
        if kind == 7:
            return [chance.randint(0, 255) for _ in range(chance.randint(1, 9))]
        if kind == 8:
            return [value(depth - 1) for _ in range(chance.randint(0, 5))]
        return {text(): value(depth - 1) for _ in range(chance.randint(0, 5))}

    for _ in range(120):
        members = {"k" + text(): value(4) for _ in range(chance.randint(0, 6))}
        yield json.dumps(members, ensure_ascii=chance.random() < 0.5)


def histories(recorder):
    chance = random.Random(3503)
    for number in range(25):
        identifier = "h%d" % number
        for step in range(chance.randint(2, 6)):
            is_there = identifier in recorder.revisions
            kind = chance.randint(0, 5)
            if kind == 0 and is_there:
                recorder.step("delete", "DELETE", identifier)
                recorder.put("write again", identifier, '{"again":%d}' % step)
            elif kind == 1:
                recorder.put("delete and keep members", identifier, '{"_deleted":true,"why":"%d"}' % step)
                recorder.put("write again", identifier, '{"back":[%d]}' % step)
            else:
                recorder.put("write", identifier, '{"v":%d,"f":%d.5}' % (step, step))
    for number, revision in enumerate(["1-a", "3-" + "f" * 32, "2-" + "AB" * 16, "7-" + "0" * 40]):
        identifier = "replicated%d" % number
        text = '{"_rev":"%s","v":%d}' % (revision, number)
        recorder.put("a revision of another's making", identifier, text, query={"new_edits": "false"})
        recorder.put("its child", identifier, '{"child":%d}' % number)


def attachments(recorder, prefix, kinds):
    chance = random.Random(3504)

    def content(size):
        return bytes(chance.getrandbits(8) for _ in range(size))

    def inline(count):
        return {"%s%d" % (chance.choice("abxyzäö"), number): {
            "content_type": chance.choice(kinds), "data": data(content(chance.choice([0, 1, 5, 100, 3000])))}
            for number in range(count)}

    for number in range(25):
        identifier = "%s%d" % (prefix, number)
        first = inline(chance.randint(1, 4))
        recorder.put("with attachments", identifier,
                     json.dumps({"v": number, "_attachments": first}, ensure_ascii=False))
        kept = {name: {"stub": True} for name in first}
        if number % 3 == 0:
            kept.update(inline(1))
        recorder.put("keep them", identifier, json.dumps({"v": "next", "_attachments": kept}, ensure_ascii=False))
        if number % 2 == 0:
            body = content(chance.choice([0, 7, 2000]))
            recorder.step("put one", "PUT", identifier, "/new", body, content_type=chance.choice(kinds),
                          base64=data(body))
        if number % 4 == 0:
            recorder.step("take it off", "DELETE", identifier, "/new")
        if number % 5 == 0:
            recorder.put("drop all", identifier, '{"v":"bare"}')
        if number % 5 == 1:
            recorder.step("delete", "DELETE", identifier)


def main():
    base, folder = sys.argv[1:]
    recorder = Recorder(base, "settle-revision-ids")
    for kind, texts in (("integer", integers()), ("float", floats()), ("string", strings()),
                        ("structure", structures()), ("random", random_values())):
        for number, text in enumerate(texts):
            recorder.put(kind, "%s%d" % (kind, number), text)
    histories(recorder)
    attachments(recorder, "attached", ["application/octet-stream", "image/png", "application/x-own"])
    recorder.save(folder + "/revision-ids.json")
    recorder = Recorder(base, "settle-compressed")
    attachments(recorder, "compressed", ["text/plain", "text/html; charset=utf-8", "application/json"])
    recorder.save(folder + "/compressed-attachments.json")


main()
