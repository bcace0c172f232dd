import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleServer

/// A real `settle serve` that is killed while it builds an index: the build resumes, and the index has every row once.
@Suite(.serialized, .timeLimit(.minutes(5))) struct KilledIndexTests {
    private static let count = 3000

    @Test func `an index whose build was interrupted becomes complete`() throws {
        let folder = try TemporaryFolder()
        let view = "/db/_design/d/_view/v"
        do {
            let served = try ServedFolder(folder)
            defer { served.kill() }
            _ = try served.json("PUT", "/db")
            let map = "function (doc) { emit(doc._id, 1); emit([doc.n], 2) }"
            _ = try served.json("PUT", "/db/_design/d", #"{"views":{"v":{"map":"\#(map)","reduce":"_sum"}}}"#)
            let documents = (0..<Self.count).map { #"{"_id":"d\#($0)","n":\#($0 % 10)}"# }.joined(separator: ",")
            _ = try served.json("POST", "/db/_bulk_docs", #"{"docs":[\#(documents)]}"#)
        }
        for round in 0..<4 {
            let served = try ServedFolder(folder)
            defer { served.kill() }
            // The answer to this request is never read.
            let connection = try RawConnection(port: served.port)
            try connection.write(LiveServer.request("GET", view))
            _ = try served.json("PUT", "/db/more\(round)", #"{"n":0}"#)
        }
        let served = try ServedFolder(folder)
        defer { served.kill() }
        let sum = try served.json("GET", view)["rows"]?[0]?["value"]?.int
        #expect(sum == (Self.count + 4) * 3)
        #expect(try served.json("GET", view + "?reduce=false&limit=0")["total_rows"]?.int == (Self.count + 4) * 2)
    }
}
