import Foundation
import Settle
import SettleTesting
import Testing

/// Ctrl-C while a folder's index is built.
@Suite(.timeLimit(.minutes(5))) struct InterruptedIndexTests {
    private let room: Room
    /// So many that an index is far from done when its file is seen, even if this process is the last to get a processor.
    private static let count = 150_000

    init() throws {
        room = try Room()
        var lines = ""
        for number in 0..<Self.count { lines += "{\"_id\":\"n\(number)\",\"n\":\(number % 100),\"t\":\"a text\"}\n" }
        #expect(try room.run("import", "db", "-", "--quiet", input: lines).status == 0)
        let view = #"{"views":{"n":{"map":"function (doc) { emit(doc.n) }"}}}"#
        #expect(try room.run("put", "db", "_design/shop", view).status == 0)
        #expect(try room.run("index", "create", "db", "n", "--name", "by-n", "--ddoc", "find").status == 0)
    }

    private var indexes: Int {
        let files = try? FileManager.default.contentsOfDirectory(atPath: room.path("db/views"))
        return files?.count { $0.hasSuffix(".index") } ?? 0
    }

    @Test(arguments: [
        (["query", "db", "shop/n", "--key", "3", "--json"], 1500), (["find", "db", "n = 3", "--json"], 1500),
        (["search", "db", "text", "--count"], 1),
    ])
    func `it ends the verb at once, and the folder is as usable as before`(words: [String], lines: Int) throws {
        #expect(indexes == 0)
        let process = try room.start(words, "build")
        // The file is made when the first documents have been read.
        waitUntil("the file is there") { indexes > 0 || !process.isRunning }
        process.interrupt()
        process.waitForEnd()
        let outcome = try room.outcome(process, "build")
        #expect(outcome.status == 130 && outcome.output.isEmpty, "\(outcome)")
        #expect(try room.run("put", "db", "after", "{}").status == 0)
        #expect(try room.run("docs", "db", "--limit", "3").lines.count == 3)
        #expect(try room.run("verify", "db").status == 0)
        let again = try room.run(all: words)
        #expect(again.status == 0 && again.lines.count == lines, "\(again.errors)")
    }
}
