import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleServer

/// The least and greatest integers as settings that are changed over HTTP, and requests that count with them, against a server in
/// its own process, because an overflow would end the process.
@Suite(.timeLimit(.minutes(10))) struct ExtremeSettingTests {
    private static let config = "/_node/_local/_config"
    private static let names = ["couchdb/max_document_size", "chttpd/max_http_request_size", "cors/max_age"]

    @Test(arguments: names)
    func `no number as a setting ends the server, nor does one that it starts with again`(name: String) throws {
        let folder = try TemporaryFolder()
        let file = folder("config.json")
        try #"{"live_settings":true,"cors":{"origins":["https://app.example"],"credentials":true}}"#
            .write(toFile: file, atomically: true, encoding: .utf8)
        var served = try ServedFolder(folder, options: ["--config", file])
        _ = try served.ask("PUT", "/db")
        var taken: [String] = []
        for number in ExtremeRequests.numbers {
            if try served.ask("PUT", "\(Self.config)/\(name)", "\"\(number)\"").hasPrefix("HTTP/1.1 200") {
                taken.append(number)
            }
            try use(served)
            #expect(served.isRunning, "\(name) \(number)")
            // A body of one byte would be too large for the next one.
            _ = try served.ask("DELETE", "\(Self.config)/\(name)")
        }
        #expect(taken.contains("9223372036854775807") && !taken.contains("-1"))
        // The last of them is kept.
        _ = try served.ask("PUT", "\(Self.config)/\(name)", "\"9223372036854775807\"")
        served.kill()
        served = try ServedFolder(folder, options: ["--config", file])
        #expect(try served.json("GET", "\(Self.config)/\(name)") != .null)
        try use(served)
        #expect(served.isRunning)
    }

    /// Sends what counts with the settings: a long body that is refused, documents, a WebSocket with a message, a preflight.
    private func use(_ served: ServedFolder) throws {
        let long = try RawConnection(port: served.port)
        try long.write(
            Array(
                "POST /db HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 3000000\r\n\r\n".utf8
            ))
        try? long.write([UInt8](repeating: 0x20, count: 3_000_000))
        _ = try? long.readAnswer()
        _ = try? served.ask("PUT", "/db/a", #"{"n":1}"#)
        _ = try? served.ask("POST", "/db/_bulk_docs", #"{"docs":[{"_id":"b"}]}"#)
        let socket = try RawConnection(port: served.port)
        try socket.write(
            "GET /db/_blipsync HTTP/1.1\r\nHost: test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: BLIP_3+CBMobile_2\r\n\r\n"
        )
        _ = try? socket.read(through: "\r\n\r\n")
        try? socket.write([0x82, 0x80, 0, 0, 0, 0] as [UInt8])
        let asking = try RawConnection(port: served.port)
        try asking.write(
            "OPTIONS /db HTTP/1.1\r\nHost: test\r\nOrigin: https://app.example\r\nAccess-Control-Request-Method: GET\r\n\r\n"
        )
        _ = try? asking.readAnswer()
        _ = socket.readWhatComes(first: 20, then: 5)
    }
}
