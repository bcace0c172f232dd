import Foundation
import Settle
import SettleCore
import SettleTesting
import Testing

@testable import SettleImport

/// The program that runs JavaScript, where it is installed.
private enum Node {
    static let path = ["/usr/bin/node", "/usr/local/bin/node", "/opt/homebrew/bin/node"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }
}

/// The function of the article FromPouchDB, run as it stands there, takes every leaf, attachment and local document of a PouchDB.
@Suite(.enabled(if: Node.path != nil)) struct GuideFunctionTests {
    /// A database that answers as PouchDB does, from its answers to `open_revs=all&revs=true&attachments=true`. A document's leaves
    /// stand there with the winner first, and the documents in the order of their sequences, of which every third is used.
    private static let program = #"""
        const { readFileSync, appendFileSync } = require('node:fs');
        const { answers, locals, page } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
        const rows = answers.map(([id, leaves], place) => ({
          id, seq: 3 * place + 1, leaves: leaves.map(({ ok }) => ok),
        }));
        const missing = () => Object.assign(new Error('missing'), { status: 404 });
        const db = {
          async changes({ since = 0, limit = Infinity, style = 'main_only' }) {
            const results = rows.filter(row => row.seq > since).slice(0, Math.max(limit, 1)).map(row => ({
              id: row.id, seq: row.seq,
              changes: (style === 'all_docs' ? row.leaves : row.leaves.slice(0, 1)).map(({ _rev }) => ({ rev: _rev })),
            }));
            return { results, last_seq: results.length ? results[results.length - 1].seq : since };
          },
          async get(id, { rev, revs, attachments } = {}) {
            if (id.startsWith('_local/')) {
              if (!(id in locals)) throw missing();
              return { _id: id, _rev: '0-1', ...locals[id] };
            }
            const row = rows.find(row => row.id === id);
            const leaf = row && (rev ? row.leaves.find(leaf => leaf._rev === rev) : row.leaves[0]);
            if (!leaf || (!rev && leaf._deleted)) throw missing();
            const { _revisions, _attachments, ...document } = structuredClone(leaf);
            if (revs) document._revisions = _revisions;
            if (_attachments) {
              document._attachments = _attachments;
              for (const one of Object.values(_attachments)) {
                if (!attachments) { one.stub = true; one.length = Buffer.from(one.data, 'base64').length; delete one.data; }
              }
            }
            return document;
          },
        };
        let writing = false;
        async function write(text) {
          if (writing) throw new Error('a line is written before the one before it has been');
          writing = true;
          await new Promise(setImmediate);
          appendFileSync(process.argv[3], text);
          writing = false;
        }
        dump(db, write, page, Object.keys(locals)).catch(error => { console.error(error); process.exitCode = 1; });
        """#

    /// The function in the article.
    private static func function() throws -> String {
        var root = URL(filePath: #filePath)
        for _ in 0..<3 { root.deleteLastPathComponent() }
        let article = try String(
            contentsOf: root.appending(path: "Sources/Settle/Settle.docc/FromPouchDB.md"), encoding: .utf8)
        let blocks = article.components(separatedBy: "```js\n").dropFirst()
            .compactMap { $0.components(separatedBy: "\n```").first }
        return try #require(blocks.first { $0.contains("async function dump(") })
    }

    /// Runs the function over a PouchDB, and returns the file that it wrote.
    private func dump(
        _ answers: JSONValue, _ locals: [String: JSONValue], page: Int, in folder: TemporaryFolder
    ) throws -> URL {
        let members = try #require(answers.object)
        let data: JSONValue = [
            "answers": .array(members.map { JSONValue.array([.string($0.name), $0.value]) }),
            "locals": .object(JSONObject(locals.map { ($0.key, $0.value) })), "page": .number(JSONNumber(page)),
        ]
        try Data(data.utf8).write(to: URL(filePath: folder("data.json")))
        try Data((Self.function() + "\n" + Self.program).utf8).write(to: URL(filePath: folder("dump.js")))
        let process = Process()
        process.executableURL = URL(filePath: try #require(Node.path))
        process.arguments = ["dump.js", "data.json", "dump.jsonl"].map { folder($0) }
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let status = process.waitForEnd()
        try #require(status == 0)
        return URL(filePath: folder("dump.jsonl"))
    }

    private func compare(_ answers: JSONValue, _ locals: [String: JSONValue], page: Int) throws {
        let folder = try TemporaryFolder()
        let file = try dump(answers, locals, page: page, in: folder)
        try withTemporaryDatabase(.file) { database in
            let report = try database.importAll(from: ForeignDatabase(at: file))
            var expected = try ExpectedDocuments(answers: answers)
            for (id, body) in locals { expected.add(local: id, body) }
            try expected.compare(with: database, report)
            #expect(report.isWhole, "\(report)")
        }
    }

    // MARK: Databases

    private static func leaf(_ id: String, _ path: String..., members: JSONValue = [:]) -> JSONValue {
        let ids = path.reversed().map { JSONValue.string(String(repeating: $0, count: 32)) }
        var leaf: JSONValue = [
            "_id": .string(id), "_rev": .string("\(ids.count)-\(ids[0].string ?? "")"),
            "_revisions": ["start": .number(JSONNumber(ids.count)), "ids": .array(ids)],
        ]
        for member in members.object ?? [:] { leaf[member.name] = member.value }
        return ["ok": leaf]
    }

    private static let made: JSONValue = [
        "plain": [leaf("plain", "a", members: ["name": "Zürich 😄", "list": [1, nil, ["x": true]]])],
        "conflict": [
            leaf("conflict", "a", "b", "c", members: ["v": "right"]),
            leaf("conflict", "a", "d", members: ["v": "left"]),
            leaf("conflict", "a", "e", members: ["_deleted": true]),
        ],
        "gone": [leaf("gone", "a", "b", members: ["_deleted": true, "why": "old"])],
        "both gone": [
            leaf("both gone", "a", "c", members: ["_deleted": true]),
            leaf("both gone", "b", "a", members: ["_deleted": true]),
        ],
        "two roots": [leaf("two roots", "b", members: ["v": 2]), leaf("two roots", "a", members: ["v": 1])],
        "a/b?c&d+é": [leaf("a/b?c&d+é", "a")],
        "files": [leaf("files", "a", "b", members: ["_attachments": attachments])],
    ]

    private static let attachments: JSONValue = [
        "bytes": [
            "content_type": "application/octet-stream", "revpos": 1,
            "digest": "md5-tZEhNBqyZ2Zym38df34MLw==", "data": "AAECA/8=",
        ],
        "empty": [
            "content_type": "text/plain", "revpos": 2, "digest": "md5-1B2M2Y8AsgTpgAmY7PhCfg==",
            "data": "",
        ],
        "text": [
            "content_type": "text/plain", "revpos": 2, "digest": "md5-StvoZZx626uxuAc6DIFB9w==",
            "data": "b2F0cw==",
        ],
    ]

    @Test(arguments: [1, 2, 7, 100])
    func `all leaves are written, on pages of any size`(page: Int) throws {
        try compare(Self.made, ["_local/mine": ["cursor": 17]], page: page)
    }

    @Test func `an empty database is an empty file`() throws {
        let folder = try TemporaryFolder()
        let file = try dump([:], [:], page: 100, in: folder)
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test(.enabled(if: FixtureFiles.areThere), arguments: [3, 100])
    func `what PouchDB itself answered is written and imported without loss`(page: Int) throws {
        let answers = try FixtureFiles.json("pouchdb-leveldb-made/truth_open_revs.json")
        try compare(answers, ["_local/mine": ["cursor": 17]], page: page)
    }
}
