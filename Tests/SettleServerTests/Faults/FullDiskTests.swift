import Foundation
import Settle
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleServer

/// A child process with a server, whose files may not grow past a limit, as on a full disk.
@Suite struct FullDiskTests {
    private struct Broken: Error, CustomStringConvertible { let description: String }

    static func setFileSizeLimit(_ bytes: UInt?) throws {
        signal(SIGXFSZ, SIG_IGN)
        guard let (_, highest) = ResourceLimit.fileSize.value,
            ResourceLimit.fileSize.set(bytes.map { UInt64($0) } ?? highest, highest: highest)
        else { throw Broken(description: "no limit can be set") }
    }

    static func check(_ holds: Bool, _ words: String) throws { if !holds { throw Broken(description: words) } }

    @Test func `without space writes are answered with an error, reads continue, and with space all does`() async {
        await #expect(processExitsWith: .success) {
            let live = try LiveServer()
            _ = try live.send("PUT", "/db")
            try FullDiskTests.setFileSizeLimit(300_000)
            let body = #"{"t":"\#(String(repeating: "x", count: 4000))"}"#
            var stored: [String] = []
            var refused = ""
            for number in 0..<1000 where refused.isEmpty {
                let head = try live.send("PUT", "/db/d\(number)", body).head
                if head.hasPrefix("HTTP/1.1 201") { stored.append("d\(number)") } else { refused = head }
            }
            try FullDiskTests.check(
                refused.hasPrefix("HTTP/1.1 507") || refused.hasPrefix("HTTP/1.1 500"), "refused: \(refused)")
            try FullDiskTests.check(stored.count > 5, "stored \(stored.count)")
            let batch = try live.send("PUT", "/db/batch?batch=ok", body).head
            try FullDiskTests.check(batch.hasPrefix("HTTP/1.1 50"), "what is not stored is not accepted: \(batch)")
            let upload = try live.connect()
            try upload.write(
                "PUT /db/a/x HTTP/1.1\r\nHost: test\r\nContent-Type: image/x\r\nContent-Length: 3000000\r\n\r\n")
            try upload.write([UInt8](repeating: 7, count: 3_000_000))
            try FullDiskTests.check(upload.readAnswer().head.hasPrefix("HTTP/1.1 50"), "an attachment is refused")
            for id in stored {
                try FullDiskTests.check(live.send("GET", "/db/\(id)").head.hasPrefix("HTTP/1.1 200"), "\(id) is there")
            }
            try FullDiskTests.setFileSizeLimit(nil)
            try FullDiskTests.check(live.send("PUT", "/db/room", body).head.hasPrefix("HTTP/1.1 201"), "with room")
            let count = String(decoding: try live.send("GET", "/db").body, as: UTF8.self)
            try FullDiskTests.check(count.contains(#""doc_count":\#(stored.count + 1)"#), "only what was acknowledged")
        }
    }
}
