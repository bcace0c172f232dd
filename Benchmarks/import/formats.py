"""Writes the same documents as databases and dumps of other products."""
import json
import os
import random
import sqlite3
import struct
import uuid


def documents(count, seed=1):
    """Documents of about 500 bytes with two generations: id, ids of the revisions from the newest, body."""
    numbers = random.Random(seed)
    words = ["oats", "milk", "bread", "a longer piece of text", "Zürich", "tea", "corner shop", "42 apples", "\"quoted\"", "naïve"]
    for number in range(count):
        body = {"type": "note", "number": number, "price": round(numbers.random() * 100, 2), "done": number % 3 == 0,
                "title": " ".join(numbers.choices(words, k=6)), "tags": numbers.sample(words, 3),
                "place": {"latitude": numbers.random() * 90, "longitude": numbers.random() * 180, "name": numbers.choice(words)},
                "text": " ".join(numbers.choices(words, k=30))}
        yield f"note-{number:08}", (f"{numbers.getrandbits(128):032x}", f"{numbers.getrandbits(128):032x}"), body


def text(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def revision(name, ids, body):
    return text({"_id": name, "_rev": f"2-{ids[0]}", "_revisions": {"start": 2, "ids": ids}, **body})


def batches(rows, size):
    batch = []
    for row in rows:
        batch.append(row)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


# Texts


def lines(path, rows):
    """The floor: a document a line, without revisions."""
    with open(path, "w") as file:
        for name, _, body in rows:
            file.write(text({"_id": name, **body}) + "\n")


def pouchdb_dump(path, rows):
    """As pouchdb-replication-stream writes it."""
    with open(path, "w") as file:
        file.write(text({"version": "1.0.0", "db_type": "leveldb", "start_time": "2026-01-01T00:00:00.000Z", "db_info": {}}) + "\n")
        sequence = 0
        for batch in batches(rows, 50):
            sequence += len(batch)
            file.write('{"docs":[' + ",".join(revision(*row) for row in batch) + "]}\n" + text({"seq": sequence}) + "\n")


def couchbackup(path, rows):
    with open(path, "w") as file:
        file.write(text({"name": "@cloudant/couchbackup", "version": "2.10.0", "mode": "full"}) + "\n")
        for batch in batches(rows, 500):
            file.write("[" + ",".join(revision(*row) for row in batch) + "]\n")


def all_docs(path, rows):
    """CouchDB's answer to `_all_docs?include_docs=true`: a row a line."""
    with open(path, "w") as file:
        file.write('{"total_rows":0,"offset":0,"rows":[\n')
        between = ""
        for name, ids, body in rows:
            document = text({"_id": name, "_rev": f"2-{ids[0]}", **body})
            file.write(between + f'{{"id":"{name}","key":"{name}","value":{{"rev":"2-{ids[0]}"}},"doc":{document}}}')
            between = ",\n"
        file.write("\n]}\n")


# SQLite


def couchbase1(path, rows):
    """Couchbase Lite 1.4: a row for each revision, the older one without its body, as after a compaction."""
    os.makedirs(path)
    database = sqlite3.connect(os.path.join(path, "db.sqlite3"))
    database.executescript("""
        CREATE TABLE docs (doc_id INTEGER PRIMARY KEY, docid TEXT UNIQUE NOT NULL, expiry_timestamp INTEGER);
        CREATE TABLE revs (sequence INTEGER PRIMARY KEY AUTOINCREMENT, doc_id INTEGER NOT NULL, revid TEXT NOT NULL, parent INTEGER,
            current BOOLEAN, deleted BOOLEAN DEFAULT 0, json BLOB, no_attachments BOOLEAN, doc_type TEXT, UNIQUE (doc_id, revid));
        CREATE INDEX revs_parent ON revs(parent);
        CREATE TABLE localdocs (docid TEXT UNIQUE NOT NULL, revid TEXT NOT NULL, json BLOB);
        CREATE TABLE info (key TEXT PRIMARY KEY, value TEXT);
        PRAGMA user_version = 102;
        """)
    database.execute("INSERT INTO info VALUES('privateUUID', ?)", (str(uuid.UUID(int=1)),))
    for number, (name, ids, body) in enumerate(rows, 1):
        database.execute("INSERT INTO docs VALUES(?, ?, NULL)", (number, name))
        database.execute("INSERT INTO revs VALUES(?, ?, ?, NULL, 0, 0, NULL, 1, NULL)", (2 * number - 1, number, f"1-{ids[1]}"))
        database.execute("INSERT INTO revs VALUES(?, ?, ?, ?, 1, 0, ?, 1, NULL)",
                         (2 * number, number, f"2-{ids[0]}", 2 * number - 1, text(body).encode()))
    database.commit()
    database.close()


class Fleece:
    """A value in Fleece: children stand before their containers, which point back to them."""

    def __init__(self, value, keys=None):
        self.out, self.keys = bytearray(), keys or {}
        kind, root = self.slot(value)
        if kind == "at":
            distance = (len(self.out) - root) // 2
            root = self.pointer(distance, 2) if distance < 1 << 14 else self.pointer(distance, 4) + self.pointer(2, 2)
        self.out += root

    @staticmethod
    def pointer(distance, width):
        data = bytearray(distance.to_bytes(width, "big"))
        data[0] |= 0x80
        return bytes(data)

    def slot(self, value):
        if value is None or isinstance(value, bool):
            return "inline", bytes([0x30 if value is None else 0x38 if value else 0x34, 0])
        if isinstance(value, int):
            return self.number(value)
        if isinstance(value, float):
            return self.store(b"\x28\0" + struct.pack("<d", value))
        if isinstance(value, str):
            data = value.encode()
            return self.store((bytes([0x40 | len(data)]) if len(data) < 15 else b"\x4f" + varint(len(data))) + data)
        if isinstance(value, list):
            return self.container(0x60, len(value), [self.slot(one) for one in value])
        items = [(self.keys.get(name, name), one) for name, one in value.items()]
        return self.container(0x70, len(items), [self.slot(part) for item in items for part in item])

    def number(self, value):
        if -2048 <= value < 2048:
            return "inline", bytes([value >> 8 & 15, value & 255])
        size = (value.bit_length() + 8) // 8
        return self.store(bytes([0x10 | size - 1]) + value.to_bytes(size, "little", signed=True))

    def store(self, data):
        if len(data) <= 2:
            return "inline", data.ljust(2, b"\0")
        place = len(self.out)
        self.out += data + b"\0" * (len(data) % 2)
        return "at", place

    def container(self, tag, count, slots):
        if not slots:
            return "inline", bytes([tag, 0])
        place = len(self.out)
        width = 4 if place + 2 + 2 * len(slots) >= 1 << 15 else 2
        self.out += bytes([tag | count >> 8 | (8 if width == 4 else 0), count & 255])
        for kind, one in slots:
            self.out += one.ljust(width, b"\0") if kind == "inline" else self.pointer((len(self.out) - one) // 2, width)
        return "at", place


def couchbase3(path, rows):
    """Couchbase Lite 3.1 with trees: the body of the current revision, and its tree beside it."""
    os.makedirs(path)
    database = sqlite3.connect(os.path.join(path, "db.sqlite3"))
    database.executescript("""
        CREATE TABLE kvmeta (name TEXT PRIMARY KEY, lastSeq INTEGER DEFAULT 0, purgeCnt INTEGER DEFAULT 0) WITHOUT ROWID;
        CREATE TABLE kv_default (key TEXT PRIMARY KEY, sequence INTEGER, flags INTEGER DEFAULT 0, version BLOB, body BLOB,
            expiration INTEGER, extra BLOB);
        CREATE TABLE kv_info (key TEXT PRIMARY KEY, sequence INTEGER, flags INTEGER DEFAULT 0, version BLOB, body BLOB,
            expiration INTEGER, extra BLOB);
        CREATE UNIQUE INDEX kv_default_seqs ON kv_default (sequence);
        PRAGMA user_version = 500;
        """)
    keys = {}
    for sequence, (name, ids, body) in enumerate(rows, 1):
        for member in body:
            keys.setdefault(member, len(keys))
        binary = [bytes([2]) + bytes.fromhex(ids[0]), bytes([1]) + bytes.fromhex(ids[1])]
        tree = b"".join(struct.pack(">IHBB", 8 + len(one) + len(varint(place)), parent, flags, len(one)) + one + varint(place)
                        for one, parent, flags, place in ((binary[0], 1, 2, 0), (binary[1], 65535, 0, 2 * sequence - 1)))
        database.execute("INSERT INTO kv_default VALUES(?, ?, 0, ?, ?, NULL, ?)",
                         (name, 2 * sequence, binary[0], bytes(Fleece(body, keys).out), tree + bytes(8)))
    for key, value in (("SharedKeys", bytes(Fleece(list(keys)).out)), ("privateUUID", bytes(range(16))), ("publicUUID", bytes(16))):
        database.execute("INSERT INTO kv_info(key, body) VALUES(?, ?)", (key, value))
    database.commit()
    database.close()


# LevelDB


def _crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


CRC_TABLE = _crc_table()


def masked_crc(data):
    crc, table = 0xFFFFFFFF, CRC_TABLE
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def varint(number):
    out = bytearray()
    while number >= 128:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytes([number]))


def prefixed(data):
    return varint(len(data)) + data


class Block:
    """Entries with their whole keys, each of them a restart: larger than LevelDB's own, and read the same way."""

    def __init__(self):
        self.data, self.restarts = bytearray(), []

    def add(self, key, value):
        self.restarts.append(len(self.data))
        self.data += varint(0) + varint(len(key)) + varint(len(value)) + key + value

    def finish(self):
        restarts = self.restarts or [0]
        return bytes(self.data) + b"".join(struct.pack("<I", place) for place in restarts) + struct.pack("<I", len(restarts))


class Table:
    """A table of LevelDB, of keys in order. Blocks are not compressed."""

    def __init__(self, path):
        self.file, self.size, self.block, self.index = open(path, "wb"), 0, Block(), Block()
        self.first = self.last = None

    def add(self, key, value):
        self.first, self.last = self.first or key, key
        self.block.add(key, value)
        if len(self.block.data) >= 4096:
            self.flush()

    def flush(self):
        if self.block.restarts:
            self.index.add(self.last, self.write(self.block.finish()))
            self.block = Block()

    def write(self, data):
        handle = varint(self.size) + varint(len(data))
        data += b"\0"
        data += masked_crc(data)
        self.file.write(data)
        self.size += len(data)
        return handle

    def finish(self):
        self.flush()
        handles = self.write(Block().finish()) + self.write(self.index.finish())
        footer = handles.ljust(40, b"\0") + struct.pack("<Q", 0xDB4775248B80FB57)
        self.file.write(footer)
        self.file.close()
        self.size += len(footer)


def log(records):
    """The records of a log; none of them is longer than a block."""
    out = bytearray()
    for data in records:
        room = 32768 - len(out) % 32768
        if room < 7 + len(data):
            raise ValueError("the record is longer than the rest of the block")
        out += masked_crc(b"\1" + data) + struct.pack("<HB", len(data), 1) + data
    return bytes(out)


def pouchdb_leveldb(path, rows):
    """PouchDB's folder of LevelDB after a compaction: tables of 2 MB, and an empty log."""
    os.makedirs(path)
    entries = [("meta-store", "_local_uuid", text(str(uuid.UUID(int=1))))]
    count = 0
    for sequence, (name, ids, body) in enumerate(rows, 1):
        tree = [{"pos": 1, "ids": [ids[1], {"status": "missing"}, [[ids[0], {"status": "available"}, []]]]}]
        metadata = {"id": name, "rev_tree": tree, "rev_map": {f"1-{ids[1]}": 2 * sequence - 1, f"2-{ids[0]}": 2 * sequence},
                    "winningRev": f"2-{ids[0]}", "deleted": False, "seq": 2 * sequence}
        entries.append(("document-store", name, text(metadata)))
        entries.append(("by-sequence", f"{2 * sequence:016}", text({**body, "_id": name, "_rev": f"2-{ids[0]}"})))
        count = sequence
    entries += [("meta-store", "_local_last_update_seq", str(2 * count)), ("meta-store", "_local_doc_count", str(count))]
    keys = sorted((f"\u00ff{store}\u00ff{key}".encode(), value.encode()) for store, key, value in entries)
    files, number, table = [], 4, None
    for place, (key, value) in enumerate(keys, 1):
        if table is None:
            number += 1
            table = Table(os.path.join(path, f"{number:06}.ldb"))
        table.add(key + struct.pack("<Q", place << 8 | 1), value)
        if table.size >= 2 << 20 or place == len(keys):
            table.finish()
            files.append((number, table))
            table = None
    newest = number
    edit = varint(1) + prefixed(b"leveldb.BytewiseComparator") + varint(2) + varint(newest + 1) + varint(9) + varint(0)
    edit += varint(3) + varint(newest + 2) + varint(4) + varint(len(keys))
    records = [edit]
    for number, table in files:
        records.append(varint(7) + varint(1) + varint(number) + varint(table.size) + prefixed(table.first) + prefixed(table.last))
    with open(os.path.join(path, "MANIFEST-000002"), "wb") as file:
        file.write(log(records))
    with open(os.path.join(path, "CURRENT"), "w") as file:
        file.write("MANIFEST-000002\n")
    # What would be written next.
    open(os.path.join(path, f"{newest + 1:06}.log"), "wb").close()


FORMATS = {
    "lines of JSON": ("lines.jsonl", lines), "PouchDB dump": ("dump.txt", pouchdb_dump), "couchbackup": ("backup.txt", couchbackup),
    "_all_docs": ("all_docs.json", all_docs), "Couchbase Lite 1.4": ("notes1.cblite2", couchbase1),
    "Couchbase Lite 3.1": ("notes3.cblite2", couchbase3),
    "PouchDB LevelDB": ("pouchdb", pouchdb_leveldb),
}
