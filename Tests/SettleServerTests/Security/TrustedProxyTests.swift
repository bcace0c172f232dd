import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleServer

/// For requests from a trusted proxy, lock-outs and the log use the client's address that the proxy names.
@Suite struct TrustedProxyTests {
    private func options(_ ranges: String) throws -> SecurityOptions {
        try SecurityOptions(configuration: Array(#"{"trusted_proxies": \#(ranges)}"#.utf8))
    }

    private func live(_ ranges: String?) throws -> LiveServer {
        let given = try ranges.map { try options($0) }
        return try LiveServer { settings in
            let (admins, iterations) = (settings.security.admins, settings.security.passwordIterations)
            if let given { settings.security = given }
            (settings.security.admins, settings.security.passwordIterations) = (admins, iterations)
            settings.security.lockoutThreshold = 2
        }
    }

    private func status(_ live: LiveServer, _ credentials: String, _ forwarded: String?) throws -> String {
        let connection = try live.connect()
        let code = Data(credentials.utf8).base64EncodedString()
        try connection.write(
            Array(
                "GET /_all_dbs HTTP/1.1\r\nHost: x\r\nAuthorization: Basic \(code)\r\n\(forwarded.map { "X-Forwarded-For: \($0)\r\n" } ?? "")\r\n"
                    .utf8))
        return String(try connection.readAnswer().head.dropFirst(9).prefix(3))
    }

    @Test func `a stranger at the proxy does not lock the administrator out`() throws {
        let live = try live(#"["127.0.0.1"]"#)
        for _ in 0..<4 { _ = try status(live, "admin:wrong", "198.51.100.7") }
        #expect(try status(live, "admin:admin", "198.51.100.7") == "403")
        #expect(try status(live, "admin:admin", "203.0.113.9") == "200")
        #expect(try status(live, "admin:admin", nil) == "200")
        // Text that the client wrote itself is to the left of the address that the proxy added.
        #expect(try status(live, "admin:admin", "203.0.113.9, 198.51.100.7") == "403")
    }

    @Test func `without trusted proxies the header is ignored`() throws {
        for ranges in [nil, "[]", #"["10.0.0.0/8", "::1"]"#] as [String?] {
            let live = try live(ranges)
            for number in 0..<3 { _ = try status(live, "admin:wrong", "198.51.100.\(number)") }
            #expect(try status(live, "admin:admin", "203.0.113.9") == "403")
        }
    }

    @Test(arguments: [
        "", ",", ",,,", "unknown", "x, y", "198.51.100.7.8", "1.2.3", "999.1.1.1", "'1.2.3.4'", "1.2.3.4;5", "\u{E9}",
        "1.2.3.4 5.6.7.8", "[::1", "::1]", "_hidden", "1.2.3.4:", "1.2.3.4:99999999", "fe80::1%eth0", "0x7f.1", "1",
        "127.0.0.1", "127.0.0.1, 127.0.0.1",
    ])
    func `a value that is not a client's address leaves the proxy's`(value: String) throws {
        let live = try live(#"["127.0.0.0/8"]"#)
        for _ in 0..<3 { _ = try status(live, "admin:wrong", value) }
        #expect(try status(live, "admin:admin", nil) == "403")
        #expect(try status(live, "admin:admin", "203.0.113.9") == "200")
    }

    @Test(arguments: [
        ("198.51.100.7", "198.51.100.7:1234"), ("2001:db8::1", "[2001:DB8:0:0::1]:443"),
        ("2001:db8::1", "2001:db8:0::1"),
        ("198.51.100.7", "::ffff:198.51.100.7"), ("198.51.100.7", "\"198.51.100.7\""),
        ("198.51.100.7", "203.0.113.1, 198.51.100.7 , 127.0.0.5"),
    ])
    func `addresses are equal in every spelling`(plain: String, spelled: String) throws {
        let live = try live(#"["127.0.0.0/8"]"#)
        for _ in 0..<3 { _ = try status(live, "admin:wrong", plain) }
        #expect(try status(live, "admin:admin", spelled) == "403")
    }

    @Test func `a chain of proxies is followed as far as it is trusted`() throws {
        let live = try live(#"["127.0.0.1", "10.0.0.0/8", "2001:db8::/32"]"#)
        for _ in 0..<3 { _ = try status(live, "admin:wrong", "203.0.113.9, 198.51.100.7, 10.1.2.3, 2001:db8::5") }
        #expect(try status(live, "admin:admin", "198.51.100.7") == "403")
        #expect(try status(live, "admin:admin", "203.0.113.9") == "200")
        // Addresses to the left of an unreadable one are not trusted.
        for _ in 0..<3 { _ = try status(live, "admin:wrong", "192.0.2.1, rubbish, 10.9.9.9") }
        #expect(try status(live, "admin:admin", "10.9.9.9") == "403")
        #expect(try status(live, "admin:admin", "192.0.2.1") == "200")
    }

    @Test func `the log has the client's address`() throws {
        let folder = try TemporaryFolder()
        let given = try options(#"["127.0.0.1/32"]"#)
        let log = try ServerLog(format: .json, requests: .file(folder("log")))
        let live = try LiveServer { settings in
            settings.security = given
            settings.log = log
        }
        let connection = try live.connect()
        try connection.write(Array("GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 198.51.100.7\r\n\r\n".utf8))
        _ = try connection.readAnswer()
        waitUntil { ((try? String(contentsOfFile: folder("log"), encoding: .utf8)) ?? "").hasSuffix("\n") }
        #expect(try String(contentsOfFile: folder("log"), encoding: .utf8).contains(#""remote":"198.51.100.7""#))
        log.close()
    }

    @Test(arguments: [
        #""127.0.0.1""#, #"["localhost"]"#, #"["10.0.0.0/33"]"#, #"["10.0.0.0/-1"]"#, #"["10.0.0.0/"]"#, #"["::/129"]"#,
        #"["1.2.3"]"#, #"[""]"#, #"["/8"]"#, #"["10.0.0.0/8/8"]"#, #"["10.0.0.0/+8"]"#, "[1]",
    ])
    func `an invalid address or range is refused`(ranges: String) {
        #expect {
            try options(ranges)
        } throws: { error in
            (error as? DatabaseError)?.code == .invalid && "\(error)".contains("trusted_proxies")
        }
    }
}
