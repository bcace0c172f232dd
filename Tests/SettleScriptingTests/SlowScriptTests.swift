import Foundation
import SettleScripting
import Testing

/// What takes long: a function that computes gives way to others, and a call of many quick functions does not, nor one that a busy
/// machine lets wait.
@Suite(.timeLimit(.minutes(5))) struct SlowScriptTests {
    /// How many processes start for calls that follow each other, in a pool that may have two. No more calls follow when `wanted`
    /// have started.
    private func starts(
        of function: String, calls: Int = 2, until wanted: Int = .max, documents: Int = 1, start: String = ":"
    ) throws -> Int {
        let file = FileManager.default.temporaryDirectory.appending(path: "starts-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let workers = Workers(timeLimit: 60_000, start: "echo >>'\(file.path)'; \(start)")
        let texts = Array(repeating: "{}", count: documents)
        for _ in 0..<calls where ((try? Data(contentsOf: file).count) ?? 0) < wanted {
            #expect(try workers.map(function, texts).allSatisfy { $0 == "[[[1,null]]]" })
        }
        workers.pool.close()
        return try Data(contentsOf: file).count
    }

    @Test func `a process that was late and computed little runs the next call`() throws {
        // It stands for a busy machine: the answer is late, and no time of a processor was used.
        let wait = "sleep 0.6"
        #expect(try starts(of: "function () { emit(1) }", start: wait) == 1)
    }

    @Test func `calls that follow each other run in one process`() throws {
        #expect(try starts(of: "function () { emit(1) }", calls: 500) == 1)
    }

    /// With the lowest priority a large batch would wait for whatever else the machine computes.
    @Test func `a call of many quick functions keeps its process and the priority`() throws {
        let function = "function () { for (var i = 0, x = 0; i < 1e5; i++) x += i % 7; if (x > 0) emit(1) }"
        #expect(try starts(of: function, documents: 5000) == 1)
    }

    @Test func `a process with a function that computed for long ends after its call`() throws {
        let loop = "function () { for (var i = 0, x = 0; i < 1e9; i++) x += i % 7; if (x > 0) emit(1) }"
        // One call would do, but the thread that notices a slow function may stand still.
        #expect(try starts(of: loop, calls: 60, until: 2) == 2)
    }
}
