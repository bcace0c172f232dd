import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleServer

/// A real `settle serve` that is killed while clients write: acknowledged writes are there afterwards.
@Suite(.serialized) struct KilledServerTests {
    @Test func `writes acknowledged before the kill are there after it`() throws {
        let folder = try TemporaryFolder()
        var acknowledged: Set<String> = []
        for round in 0..<3 {
            let served = try ServedFolder(folder)
            defer { served.kill() }
            let first = try RawConnection(port: served.port)
            try first.write(LiveServer.request("PUT", "/db"))
            _ = try first.readAnswer()
            try check(acknowledged, first)
            let writers = try (0..<8).map { _ in try RawConnection(port: served.port) }
            for number in 0..<40 {
                for (index, writer) in writers.enumerated() {
                    try writer.write(LiveServer.request("PUT", "/db/d\(round)-\(index)-\(number)", "{}"))
                }
                // In the last round it is killed while answers are being sent.
                if number == 39 { served.kill() }
                for (index, writer) in writers.enumerated() {
                    guard let answer = try? writer.readAnswer(), answer.head.hasPrefix("HTTP/1.1 201") else { continue }
                    acknowledged.insert("d\(round)-\(index)-\(number)")
                }
            }
            #expect(acknowledged.count >= (round + 1) * 39 * 8)
        }
        let served = try ServedFolder(folder)
        try check(acknowledged, RawConnection(port: served.port))
    }

    private func check(_ acknowledged: Set<String>, _ connection: RawConnection) throws {
        try connection.write(LiveServer.request("GET", "/db/_all_docs"))
        let rows = try JSONValue(utf8: connection.readAnswer().body)["rows"]?.array ?? []
        let stored = Set(rows.compactMap { $0["id"]?.string })
        #expect(acknowledged.subtracting(stored).isEmpty)
    }
}
