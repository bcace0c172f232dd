import Foundation
import SettleTesting
import Testing

/// A real PouchDB in Node replicates with the server, if a folder with PouchDB is available.
struct PouchDBTests {
    private static let isAtHand = ProcessInfo.processInfo.environment["SETTLE_POUCHDB"].map { folder in
        FileManager.default.fileExists(atPath: folder + "/pouchdb.js")
    }

    @Test(.enabled(if: isAtHand == true, "SETTLE_POUCHDB names no folder with pouchdb.js"), .timeLimit(.minutes(10)))
    func `two PouchDBs and the server have the same documents after each synchronization`() throws {
        let live = try LiveServer()
        let root = URL(filePath: #filePath).appending(path: "../../../..").standardized
        let node = Process()
        node.executableURL = URL(filePath: "/usr/bin/env")
        node.arguments = [
            "node", root.appending(path: "Scripts/live/pouchdb-rounds.js").path,
            "http://admin:admin@127.0.0.1:\(live.port)", "4",
        ]
        let output = Pipe()
        node.standardOutput = output
        node.standardError = output
        node.standardInput = FileHandle.nullDevice
        try node.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let status = node.waitForEnd()
        #expect(status == 0, "\(text.prefix(4000))")
        #expect(text.contains(#"{"rounds":4,"#))
    }
}
