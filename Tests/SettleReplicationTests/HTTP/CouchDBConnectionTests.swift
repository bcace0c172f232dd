import Settle
import SettleCore
import SettleHTTP
import SettleReplication
import Testing

/// A connection to a server that runs here.
@Suite(.timeLimit(.minutes(5))) struct CouchDBConnectionTests {
    private let live: LiveServer
    private let client = DefaultTransport()

    init() throws { live = try LiveServer() }

    @Test func `documents are written and read, whatever their ids`() async throws {
        let database = CouchDBConnection(database: try live.url("a%2Fb"), client: client)
        #expect(try await database.json("PUT", "").status == 201)
        for name in ["milk", "a/b", "_design/shop", "_local/x/y", "ä +&?#%", "../x", "a\u{0301}"] {
            let id = try DocumentID(validating: name)
            let written = try await database.json("PUT", .document(id), body: ["name": .string(name)])
            #expect(written.json["id"]?.string?.utf8.elementsEqual(name.utf8) == true)
            let read = try await database.json("GET", .document(id), query: ["attachments": "true"])
            #expect(read.status == 200 && read.json["name"]?.string == name)
            #expect(read.date != nil)
        }
        let info = try await database.json("GET", "")
        #expect(info.json["db_name"] == "a/b")
        #expect(try await database.server.json("GET", "").json["couchdb"] == "Welcome")
    }

    /// A proxy removes `.` and `..` from a path, also escaped ones, and some drop a slash at the end.
    @Test(arguments: [
        HTTPPath(segments: ["."]), HTTPPath(segments: [".."]), HTTPPath(segments: ["_design", "."]),
        HTTPPath(segments: ["_design", ".."]), HTTPPath(segments: ["_local", ".."]), HTTPPath(segments: ["doc", "."]),
        HTTPPath(segments: ["doc", ".."]), HTTPPath(segments: ["doc", ""]),
        HTTPPath(segments: ["_index", "_design", "x", "json", "."]),
        "%2e", ".%2E", "doc/%2e%2e", "doc/",
    ])
    func `a write to a path that a proxy would change is not sent`(path: HTTPPath) async throws {
        let server = try RawServer.closing()
        let url = try HTTPURL("http://127.0.0.1:\(server.port)/db")
        let database = CouchDBConnection(database: url, client: client)
        for method in ["PUT", "DELETE", "POST", "COPY", "delete"] {
            let error = await #expect(throws: TransportError.self) {
                try await database.json(method, path, query: ["rev": "1-a"])
            }
            #expect(error?.code == .badURL, "\(method) \(path)")
        }
        #expect(server.accepted == 0)
    }

    @Test func `a refusal has its status, name and reason`() async throws {
        let database = CouchDBConnection(database: try live.url("db"), client: client)
        _ = try await database.json("PUT", "")
        _ = try await database.json("PUT", "milk", body: [:])
        let error = await #expect(throws: CouchDBError.self) {
            try await database.json("PUT", "milk", query: ["x": "hidden"], body: [:])
        }
        #expect(error?.status == 409 && error?.error == "conflict" && error?.isTransient == false)
        #expect(error?.description == "PUT /db/milk was answered 409: conflict: Document update conflict.")
    }

    @Test func `a wrong password is reported with its user and not shown`() async throws {
        let url = try live.url("db", credentials: "admin:wr%6Fng-w%40rd@")
        for credentials in [nil, ReplicationCredentials.session(user: "admin", password: "wrong-w@rd")] {
            let database = CouchDBConnection(database: url, client: client, credentials: credentials)
            let error = await #expect(throws: CouchDBError.self) { try await database.json("PUT", "") }
            #expect(error?.status == 401 && error?.tried?.contains("'admin'") == true)
            var text = "\(error as Any) \(database)"
            dump(database, to: &text)
            #expect(!text.contains("rd@") && !text.contains("wrong-w"))
        }
    }

    @Test func `concurrent requests share one login, and a lost session is renewed once`() async throws {
        let counting = CountingClient(client)
        let database = CouchDBConnection(
            database: try live.url("db", credentials: ""), client: counting,
            credentials: .session(user: "admin", password: "secret-word"))
        await withTaskGroup { group in
            for _ in 0..<20 { group.addTask { _ = try? await database.json("PUT", "") } }
        }
        #expect(counting.count("/_session") == 1)
        #expect(try await database.json("GET", "").json["db_name"] == "db")
        counting.spoilCookies()
        #expect(try await database.json("GET", "").json["db_name"] == "db")
        #expect(counting.count("/_session") == 2)
    }
}
