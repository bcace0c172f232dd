import Foundation
import Settle
import SettleDatabase
import SettleHTTP
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleServer

extension RouterClient {
    /// Sends a file to be imported into `db`.
    func importing(_ bytes: [UInt8], _ query: String = "", headers: HTTPHeaders = HTTPHeaders()) throws -> Answer {
        var headers = headers
        headers["Content-Type"] = "application/octet-stream"
        return try send("POST", "/db/_import?\(query)", bytes: bytes, headers: headers)
    }

    func importing(_ text: String, _ query: String = "") throws -> Answer { try importing(Array(text.utf8), query) }

    /// The ids of the documents of `db`, without design documents.
    func ids() throws -> [String] {
        let rows = try send("GET", "/db/_all_docs").json["rows"]?.array ?? []
        return rows.compactMap { $0["id"]?.string }.filter { !$0.hasPrefix("_design/") }
    }
}

extension Answer {
    /// The lines about documents and about the end, without those about the progress, which a slow import has.
    fileprivate var reports: [JSONValue] { lines.filter { $0["progress"] == nil } }
}

/// `_import`: files of several kinds, read as `settle import` reads them.
@Suite(.timeLimit(.minutes(5))) struct ImportEndpointTests {
    struct Input: CustomStringConvertible, Sendable {
        let name: String
        let kind: String
        let bytes: @Sendable () throws -> [UInt8]
        var description: String { name }

        init(_ name: String, _ kind: String, _ bytes: @escaping @Sendable () throws -> [UInt8]) {
            (self.name, self.kind, self.bytes) = (name, kind, bytes)
        }

        init(_ name: String, _ kind: String, text: String) { self.init(name, kind) { Array(text.utf8) } }
    }

    /// Each holds the documents `a` and `b`.
    private static let inputs = [
        Input("lines.jsonl", "json", text: "{\"_id\":\"a\"}\n{\"_id\":\"b\",\"n\":1}\n"),
        Input("array.json", "json", text: "[{\"_id\":\"a\"},\n{\"_id\":\"b\"}]"),
        Input(
            "all.json", "couchdb",
            text: """
                {"total_rows":2,"offset":0,"rows":[
                {"id":"a","key":"a","value":{"rev":"1-\(digits("1"))"},"doc":{"_id":"a","_rev":"1-\(digits("1"))"}},
                {"id":"b","key":"b","value":{"rev":"1-\(digits("2"))"},"doc":{"_id":"b","_rev":"1-\(digits("2"))"}}
                ]}
                """),
        Input(
            "backup.txt", "couchbackup",
            text: """
                {"name":"@cloudant/couchbackup","version":"2.10.0","mode":"full"}
                [{"_id":"a","_rev":"1-\(digits("1"))","_revisions":{"start":1,"ids":["\(digits("1"))"]}}]
                [{"_id":"b","_rev":"1-\(digits("2"))","_revisions":{"start":1,"ids":["\(digits("2"))"]}}]

                """),
        Input(
            "dump.txt", "pouchdb",
            text: """
                {"version":"1.0.0","db_type":"leveldb","start_time":"","db_info":{}}
                {"docs":[{"_id":"a","_rev":"1-\(digits("1"))"},{"_id":"b","_rev":"1-\(digits("2"))"}]}
                {"seq":2}

                """),
        Input("table.csv", "csv", text: "_id,count\na,1\nb,2\n"),
        Input("mongo.json", "mongo", text: "{\"_id\":\"a\",\"n\":{\"$numberLong\":\"5\"}}\n{\"_id\":\"b\"}\n"),
        Input("lines.jsonl.gz", "json") {
            try Deflate.compress(Array("{\"_id\":\"a\"}\n{\"_id\":\"b\"}\n".utf8), .gzip)
        },
        Input("utf16.csv", "csv") {
            "\u{FEFF}_id;n\na;1\nb;2\n".utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
        },
        Input("notes.cblite", "couchbase1") { try couchbaseLite1() },
    ]

    private static func digits(_ digit: String) -> String { String(repeating: digit, count: 32) }

    /// A file of Couchbase Lite 1.4 with the documents `a` in two revisions and `b`.
    private static func couchbaseLite1() throws -> [UInt8] {
        let folder = try TemporaryFolder()
        let path = folder("notes.cblite")
        do {
            let connection = try SQLiteConnection(path: path)
            for statement in [
                "CREATE TABLE docs (doc_id INTEGER PRIMARY KEY, docid TEXT UNIQUE NOT NULL, expiry_timestamp INTEGER)",
                """
                CREATE TABLE revs (sequence INTEGER PRIMARY KEY AUTOINCREMENT, doc_id INTEGER NOT NULL, revid TEXT NOT NULL,
                parent INTEGER, current BOOLEAN, deleted BOOLEAN DEFAULT 0, json BLOB, no_attachments BOOLEAN, doc_type TEXT)
                """,
                "CREATE TABLE localdocs (docid TEXT UNIQUE NOT NULL, revid TEXT NOT NULL, json BLOB)",
                "CREATE TABLE info (key TEXT PRIMARY KEY, value TEXT)",
                "INSERT INTO info VALUES ('privateUUID', 'private')",
                "INSERT INTO docs VALUES (1, 'a', NULL), (2, 'b', NULL)",
                """
                INSERT INTO revs(doc_id, revid, parent, current, deleted, json) VALUES
                (1, '1-\(digits("1"))', NULL, 0, 0, '{"n":1}'), (1, '2-\(digits("2"))', 1, 1, 0, '{"n":2}'),
                (2, '1-\(digits("3"))', NULL, 1, 0, '{"bad":true}')
                """, "PRAGMA user_version = 102",
            ] { try connection.execute(statement) }
        }
        return try Array(Data(contentsOf: URL(fileURLWithPath: path)))
    }

    @Test(arguments: inputs)
    func `a dry run says what a file holds and stores nothing, and an import stores it`(input: Input) throws {
        let client = try RouterClient.withDatabase()
        let bytes = try input.bytes()
        let told = try client.importing(bytes, "name=\(input.name)&dry_run=true")
        #expect(told.status == 200 && told.json["kind"] == .string(input.kind), "\(told.text)")
        #expect(told.json["documents"] == 2 && told.json["not_taken"] == [])
        #expect(told.json["sample"]?.array?.map { $0["id"]?.string } == ["a", "b"], "\(told.text)")
        #expect(try client.ids() == [])
        let answer = try client.importing(bytes, "name=\(input.name)")
        #expect(answer.status == 200 && answer.headers["Content-Type"] == "application/x-ndjson")
        #expect(answer.lines.last?["result"]?["kind"] == .string(input.kind), "\(answer.text)")
        #expect(try client.ids() == ["a", "b"])
        let folder = client.folder("uploads")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
    }

    @Test func `a database keeps its revisions, and is known the second time`() throws {
        let client = try RouterClient.withDatabase()
        let bytes = try Self.couchbaseLite1()
        let first = try client.importing(bytes, "name=notes.cblite").lines.last?["result"]
        #expect(first?["leaves"] == 2 && first?["known"] == 0)
        #expect(try client.send("GET", "/db/a").json["_rev"] == .string("2-" + Self.digits("2")))
        let second = try client.importing(bytes, "name=notes.cblite").lines.last?["result"]
        #expect(second?["leaves"] == 2 && second?["known"] == 2)
    }

    @Test func `refused documents are named one by one`() throws {
        let client = try RouterClient.withScripts()
        try client.design(
            "v", ["validate_doc_update": "function (doc) { if (doc.bad) throw({forbidden: 'no bad ones'}); }"])
        let text = """
            {"_id":"good"}
            {"_id":"bad","bad":1}
            {"_id":"revision","_rev":"1-\(Self.digits("1"))","bad":1}
            {"_id":"_design/odd","views":1}
            {"_id":

            """
        let lines = try client.importing(text).reports
        #expect(lines.dropLast().map { $0["id"]?.string } == ["bad", "revision", "_design/odd", nil], "\(lines)")
        let refused = lines.first { $0["id"] == "bad" }
        #expect(refused == ["error": "forbidden", "message": "no bad ones", "line": 2, "id": "bad"])
        #expect(lines.first { $0["id"] == "revision" }?["error"] == "forbidden")
        #expect(lines.first { $0["id"] == "_design/odd" }?["error"] == "invalid_design_doc")
        #expect(lines.last?["result"]?["imported"] == 1 && lines.last?["result"]?["failed"] == 4)
        #expect(try client.ids() == ["good"])
        let database = try client.importing(Self.couchbaseLite1(), "name=notes.cblite").reports
        #expect(database.first?["error"] == "not_taken" && database.first?["message"] == "no bad ones")
        #expect(database.last?["result"]?["lost_revisions"] == 1)
        #expect(try client.ids() == ["a", "good"])
    }

    @Test(arguments: [("fail", 1, 0, 1), ("skip", 1, 1, 1), ("overwrite", 2, 0, 2)])
    func `an existing document is refused, skipped or overwritten`(
        how: String, imported: Int, skipped: Int, value: Int
    ) throws {
        let client = try RouterClient.withDatabase()
        #expect(try client.send("PUT", "/db/a", ["n": 1]).status == 201)
        let result = try client.importing("a,2\nb,2\n".withHeader("mail,n"), "name=x.csv&id=mail&on_conflict=\(how)")
            .lines.last?["result"]
        #expect(result?["imported"]?.int == imported && result?["skipped"]?.int == skipped, "\(result ?? .null)")
        #expect(result?["failed"] == (how == "fail" ? 1 : 0))
        #expect(try client.send("GET", "/db/a").json["n"]?.int == value)
    }

    @Test func `a document over the limit is refused, and the others are stored`() throws {
        let client = try RouterClient { $0.largestDocument = 100 }
        #expect(try client.send("PUT", "/db").status == 201)
        let long = String(repeating: "x", count: 200)
        let lines = try client.importing("{\"_id\":\"a\",\"t\":\"\(long)\"}\n{\"_id\":\"b\"}\n").reports
        #expect(lines.first?["error"] == "document_too_large" && lines.first?["id"] == "a")
        #expect(try client.ids() == ["b"])
    }

    @Test func `a text over body_size is refused, and the others are stored`() throws {
        let client = try RouterClient { $0.largestBody = 2 << 20 }
        #expect(try client.send("PUT", "/db").status == 201)
        let long = String(repeating: "x", count: 3 << 20)
        let lines = try client.importing("{\"_id\":\"a\"}\n{\"_id\":\"b\",\"t\":\"\(long)\"}\n{\"_id\":\"c\"}\n")
            .reports
        #expect(lines.first?["message"] == "longer than 2 MiB" && lines.first?["line"] == 2)
        #expect(try client.ids() == ["a", "c"])
        let zeros = String(repeating: "0,", count: 4_000_000)
        let realm = try RouterClient.withDatabase()
            .importing("{\"A\":[{\"_id\":1,\"n\":[\(zeros)0]}]}", "from=realm")
        #expect(realm.status == 400 && realm.json["error"] == "unsupported")
    }

    @Test func `a sample has at most 64 kB, and five documents`() throws {
        let client = try RouterClient.withDatabase()
        let long = String(repeating: "x", count: 40_000)
        let text = (0..<9).map { "{\"_id\":\"\($0)\",\"t\":\"\(long)\"}\n" }.joined()
        let told = try client.importing(text, "dry_run=true")
        let sample = try #require(told.json["sample"]?.array)
        #expect(told.body.count < 70_000 && sample.count == 5)
        #expect(sample[0]["doc"]?["t"] == .string(long) && sample[1]["omitted"] == true && sample[1]["doc"] == nil)
    }

    @Test(arguments: [
        Input("new.jsonl", "json", text: "{\"mail\":\"a\"}\n{\"mail\":\"b\"}\n"),
        Input("new.csv", "csv", text: "mail,n\na,1\nb,2\n"),
    ])
    func `a sample has no id for a document that gets one, and with the option the ids that are stored`(
        input: Input
    ) throws {
        let client = try RouterClient.withDatabase()
        let bytes = try input.bytes()
        let told = try client.importing(bytes, "name=\(input.name)&dry_run=true")
        let rows = try #require(told.json["sample"]?.array)
        #expect(rows.count == 2 && rows.allSatisfy { $0["id"] == JSONValue.null }, "\(told.text)")
        #expect(rows.map { $0["doc"]?["mail"]?.string } == ["a", "b"])
        let named = try client.importing(bytes, "name=\(input.name)&id=mail&dry_run=true")
        #expect(named.json["sample"]?.array?.map { $0["id"]?.string } == ["a", "b"], "\(named.text)")
        #expect(try client.importing(bytes, "name=\(input.name)&id=mail").lines.last?["result"]?["imported"] == 2)
        #expect(try client.ids() == ["a", "b"])
        #expect(try client.importing(bytes, "name=\(input.name)").lines.last?["result"]?["imported"] == 2)
        #expect(try client.ids().filter { $0.count == 32 }.count == 2)
    }

    @Test func `a sample has no id where only its beginning is known, nor for a revision without one`() throws {
        let client = try RouterClient.withDatabase()
        let text = "{\"Dog\":[{\"name\":\"Rex\"},{\"_id\":\"1\",\"name\":\"Ben\"}]}"
        let rows = try client.importing(text, "name=realm.json&from=realm&dry_run=true").json["sample"]?.array
        #expect(rows?.map { $0["id"] } == [JSONValue.null, JSONValue.string("Dog/1")], "\(rows ?? [])")
        let revision = try client.importing("{\"_rev\":\"1-\(Self.digits("1"))\"}\n", "dry_run=true")
        #expect(revision.json["sample"]?[0]?["id"] == JSONValue.null, "\(revision.text)")
    }

    @Test func `a table in another encoding is read by the encoding that the request names`() throws {
        let client = try RouterClient.withDatabase()
        let bytes = Array("_id,name\n1,M".utf8) + [0xFC] + Array("ller\n".utf8)
        let refused = try client.importing(bytes, "name=a.csv&dry_run=true")
        #expect(refused.status == 400 && refused.error.contains("the encoding windows-1252"), "\(refused.text)")
        #expect(!refused.text.contains("--"), "\(refused.text)")
        let told = try client.importing(bytes, "name=a.csv&encoding=Windows-1252&dry_run=true")
        #expect(told.json["sample"]?[0]?["doc"]?["name"] == "Müller", "\(told.text)")
        #expect(try client.importing(bytes, "name=a.csv&encoding=windows-1252").status == 200)
        #expect(try client.send("GET", "/db/1").json["name"] == "Müller")
        let database = try client.importing(Self.couchbaseLite1(), "name=notes.cblite&encoding=windows-1252")
        #expect(database.status == 400 && database.error.contains("`encoding` is for documents"), "\(database.text)")
    }

    @Test(arguments: [
        ("a.json", "", "no JSON", "invalid", "not JSON"),
        ("a.json", "encoding=x", "{}", "query_parse_error", "windows-1252, iso-8859-1"),
        ("a.json", "from=csv&id=x&collection=a.b", "a\n1\n", "query_parse_error", ""),
        ("a.json", "from=none", "{}", "query_parse_error", "firestore"),
        ("000005.ldb", "", "x", "unsupported", "settle import"),
        ("CURRENT", "", "MANIFEST-000002\n", "unsupported", "settle import"),
        ("a.realm", "", "x", "unsupported", "Realm Studio"),
        ("a.cblite", "", "SQLite format 3\0", "damaged", ""),
    ])
    func `what can't be imported has a reason`(
        name: String, query: String, text: String, error: String, reason: String
    ) throws {
        let client = try RouterClient.withDatabase()
        for dry in ["", "&dry_run=true"] {
            let answer = try client.importing(text, "name=\(name)&\(query)\(dry)")
            #expect(answer.status == 400 && answer.json["error"] == .string(error), "\(answer.text)")
            #expect(reason.isEmpty || answer.json["reason"]?.string?.contains(reason) == true, "\(answer.text)")
            #expect(!answer.text.contains(client.folder.path) && !answer.text.contains("--"), "\(answer.text)")
        }
        #expect(try client.ids() == [])
    }

    @Test func `only administrators of the database import`() throws {
        let client = try RouterClient.with(users: ["ben": [], "eve": ["keepers"]])
        let security: JSONValue = ["members": ["names": ["ben"]], "admins": ["roles": ["keepers"]]]
        #expect(try client.send("PUT", "/db/_security", security).status == 200)
        for (name, status) in [("", 401), ("ben:pw", 401), ("eve:pw", 200)] {
            let given = name.isEmpty ? "" : "Basic " + Data(name.utf8).base64EncodedString()
            let headers: HTTPHeaders = ["Authorization": given]
            let answer = try client.importing(Array("{\"_id\":\"of \(name)\"}".utf8), headers: headers)
            #expect(answer.status == status, "\(name): \(answer.text)")
        }
        #expect(try client.ids() == ["of eve:pw"])
        let headers: HTTPHeaders = ["Content-Type": "application/octet-stream"]
        #expect(try client.send("POST", "/_users/_import", bytes: Array("{}".utf8), headers: headers).status == 403)
        #expect(try client.send("POST", "/db/_import", ["_id": "a"]).status == 415)
    }

    @Test func `the import ends when its client goes away`() throws {
        let client = try RouterClient.withDatabase()
        // Nobody reads the lines about the refused ones, so the import waits before it comes to the last document.
        let refused = (0..<20_000).map { "{\"_id\":\"x\($0)\",\"_deleted\":true}\n" }.joined()
        let text = "{\"_id\":\"first\"}\n\(refused){\"_id\":\"last\"}\n"
        let headers: HTTPHeaders = [
            "Host": "test", "Authorization": "Basic YWRtaW46YWRtaW4=", "Content-Type": "application/octet-stream",
        ]
        let request = ServerRequest(
            method: "POST", target: RequestTarget("/db/_import"), headers: headers, body: BufferedBody(Array(text.utf8))
        )
        guard case .stream(let stream, _) = client.server.router.respondInTheEnd(to: request).body.content else {
            Issue.record("the answer is no stream")
            return
        }
        waitUntil("the first document is stored") { try client.ids() == ["first"] }
        stream.end()
        let folder = client.folder("uploads")
        waitUntil("the file is removed") { try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty }
        #expect(try client.ids() == ["first"])
    }

    @Test func `an upload that is cut off stores nothing, and leftovers of a crash are removed`() throws {
        let folder = try TemporaryFolder()
        let left = folder("uploads/import.abcdef")
        try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: true)
        #expect(FileManager.default.createFile(atPath: left + "/notes.cblite", contents: Data([1])))
        let live = try LiveServer(in: folder)
        #expect(!FileManager.default.fileExists(atPath: left))
        _ = try live.send("PUT", "/db")
        let connection = try live.connect()
        try connection.write(
            "POST /db/_import HTTP/1.1\r\nHost: test\r\nContent-Type: application/octet-stream\r\nContent-Length: 3000000\r\n\r\n"
        )
        try connection.write(Array(repeatElement("{\"_id\":\"a\"}\n", count: 200_000).joined().utf8))
        connection.abort()
        _ = try live.send("PUT", "/db/b", "{}")
        let info = try JSONValue(utf8: live.send("GET", "/db").body)
        #expect(info["doc_count"] == 1 && info["update_seq"]?.string?.hasPrefix("1-") == true)
    }

    @Test func `a file over the limit gets 413 that names the setting`() throws {
        let live = try LiveServer { $0.largestUpload = 1000 }
        _ = try live.send("PUT", "/db")
        let connection = try live.connect()
        try connection.write(
            "POST /db/_import HTTP/1.1\r\nHost: test\r\nContent-Type: application/octet-stream\r\nContent-Length: 5000\r\n\r\n"
        )
        let answer = try connection.readAnswer()
        #expect(answer.head.hasPrefix("HTTP/1.1 413"))
        #expect(String(decoding: answer.body, as: UTF8.self).contains("upload_size"))
    }
}

extension String {
    /// The rows of a table after its head.
    fileprivate func withHeader(_ head: String) -> String { "\(head)\n\(self)" }
}
