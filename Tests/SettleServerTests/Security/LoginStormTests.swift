import Settle
import SettleDatabase
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleServer

/// Many devices log in at once, while another client tries names that don't exist.
@Suite(.timeLimit(.minutes(5))) struct LoginStormTests {
    private static func head(_ path: String, _ credentials: String) -> String {
        "GET \(path) HTTP/1.1\r\nHost: a\r\nAuthorization: Basic "
            + Base64.encode(Array(credentials.utf8)) + "\r\n\r\n"
    }

    private static func statuses(_ connections: [RawConnection]) throws -> [String: Int] {
        var counts: [String: Int] = [:]
        for connection in connections {
            let head = try connection.readAnswer().head
            counts[String(head.split(separator: " ")[1]), default: 0] += 1
        }
        return counts
    }

    @Test func `devices of one account all log in at once, while another client tries names`() throws {
        let live = try LiveServer { $0.security.passwordIterations = 50_000 }
        let strangers = try (0..<60).map { _ in try live.connect() }
        for (number, stranger) in strangers.enumerated() {
            try stranger.write(Self.head("/_session", "stranger\(number):x"))
        }
        let devices = try (0..<300).map { _ in try live.connect() }
        for device in devices { try device.write(Self.head("/_session", "admin:admin")) }
        #expect(try Self.statuses(devices) == ["200": 300])
        // The other client gets 401, or 503 if no seat was free.
        let refused = try Self.statuses(strangers)
        #expect(Set(refused.keys).isSubset(of: ["401", "503"]))
    }

    @Test func `requests that need no login go on while logins wait`() throws {
        let live = try LiveServer {
            $0.security.passwordIterations = 100_000
            $0.security.passwordWorkers = 1
        }
        let database = try live.connect()
        try database.write(
            "PUT /db HTTP/1.1\r\nHost: a\r\nAuthorization: Basic YWRtaW46YWRtaW4=\r\nContent-Length: 0\r\n\r\n")
        #expect(try database.readAnswer().head.contains(" 201"))
        // More than there are threads for requests.
        let strangers = try (0..<64).map { _ in try live.connect() }
        for (number, stranger) in strangers.enumerated() {
            try stranger.write(Self.head("/db", "stranger\(number):x"))
        }
        for _ in 0..<20 {
            try database.write(
                "PUT /db/_local/a HTTP/1.1\r\nHost: a\r\nAuthorization: Basic YWRtaW46YWRtaW4=\r\n"
                    + "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
            #expect(try database.readAnswer().head.contains(" 201"))
        }
        _ = try Self.statuses(strangers)
    }

    @Test(arguments: [("admin:admin", " 201"), ("nobody:x", " 401")])
    func `a long upload waits for the login that comes with it`(credentials: String, status: String) throws {
        // This is the first login, so the password has to be verified when the first part of the upload has come.
        let live = try LiveServer { $0.security.passwordIterations = 20_000 }
        try live.server.state.create("db")
        let upload = try live.connect()
        let body = String(repeating: "x", count: 3 << 20)
        try upload.write(
            "PUT /db/doc/file HTTP/1.1\r\nHost: a\r\nAuthorization: Basic "
                + Base64.encode(Array(credentials.utf8))
                + "\r\nContent-Type: text/plain\r\nContent-Length: \(body.utf8.count)\r\n\r\n" + body)
        #expect(try upload.readAnswer().head.contains(status))
    }
}
