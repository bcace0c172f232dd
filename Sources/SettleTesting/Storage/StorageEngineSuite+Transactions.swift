internal import Dispatch
internal import Settle
import SettleDatabase
internal import SettlePlatform

extension StorageEngineSuite {
    private struct OnPurpose: Error {}
    private typealias Write = @Sendable (any StorageWriter) throws -> Void

    private static func commit(_ engine: any StorageEngine, _ body: @escaping Write) throws { try engine.commit(body) }

    private static func hold(_ engine: any StorageEngine, _ body: @escaping Write) throws { try engine.hold(body) }

    static func rollback(_ engine: any StorageEngine, _ report: inout Report) throws {
        _ = try engine.hold { try $0.apply(.insert(record("a"))) }
        do {
            try engine.hold { writer in
                _ = try writer.apply(.insert(record("b")))
                _ = try writer.putContent(RevisionContent(body: .empty))
                try writer.setSetting("s", to: "1")
                throw OnPurpose()
            }
            report.expect(false, "a write throws what its closure throws")
        } catch is OnPurpose {}
        report.expect(try engine.read { try $0.record(of: "b", withContent: false) } == nil, "a record is undone")
        report.expect(try engine.read { try $0.contentTokens(after: 0, limit: 9) } == [], "a content is undone")
        report.expect(try engine.read { try $0.setting("s") } == nil, "a setting is undone")
        report.expect(try engine.read { try $0.lastSequence } == 1, "a sequence is undone")
        report.expect(try engine.hold { try $0.apply(.insert(record("c"))) } == 2, "and is given out again")
    }

    static func parts(_ engine: any StorageEngine, _ report: inout Report) throws {
        try engine.hold { writer in
            _ = try writer.apply(.insert(record("outer")))
            do {
                try engine.hold { inner in
                    try inner.part {
                        _ = try writer.apply(.insert(record("inner")))
                        throw OnPurpose()
                    }
                }
            } catch is OnPurpose {}
            _ = try engine.commit { try $0.apply(.insert(record("second"))) }
            let seen = try engine.read { try $0.counts().live }
            report.expect(seen == 2, "reads in a write see its own state, \(seen) documents and not 2")
            let inSnapshot = try engine.snapshot { try $0.lastSequence }
            report.expect(inSnapshot == 2, "a part that failed gives its sequence back")
        }
        report.expect(try engine.read { try $0.counts().live } == 2, "a part that failed failed alone")
        for inner in [hold, commit] {
            try? engine.hold { _ in
                try? inner(engine) { writer in
                    _ = try writer.apply(.insert(record("third")))
                    throw OnPurpose()
                }
            }
            report.expect(try engine.read { try $0.counts().live } == 2, "a write that fails half way fails as a whole")
        }
    }

    static func snapshots(_ engine: any StorageEngine, _ patience: Double, _ report: inout Report) throws {
        _ = try engine.hold { try $0.apply(.insert(record("a"))) }
        let (counts, isDone) = try engine.snapshot { reader in
            let before = try reader.counts().live
            let done = DispatchSemaphore(value: 0)
            DispatchQueue.global().async {
                _ = try? engine.hold { try $0.apply(.insert(record("b"))) }
                done.signal()
            }
            // A check that waited for good would name no failure.
            let isDone = done.wait(timeout: .now() + patience) == .success
            return ([before, try reader.counts().live, try engine.read { try $0.counts().live }], isDone)
        }
        report.expect(counts == [1, 1, 1], "a snapshot sees one state, not \(counts)")
        guard isDone else { return report.expect(false, "a write waits for a snapshot; see `readsWait`") }
        report.expect(try engine.read { try $0.counts().live } == 2, "a write during a snapshot is committed")
    }

    static func commits(_ engine: any StorageEngine, _ report: inout Report) throws {
        let told = Guarded<[UpdateSequence]>([])
        engine.onCommit { notice in told.withLock { $0.append(notice.sequence) } }
        _ = try engine.commit { try $0.apply(.insert(record("a"))) }
        try? engine.commit { writer in
            _ = try writer.apply(.insert(record("b")))
            throw OnPurpose()
        }
        try engine.hold { writer in
            for id: DocumentID in ["c", "d"] { _ = try writer.apply(.insert(record(id))) }
        }
        let sequences = told.withLock { $0 }
        let inside = try engine.hold { writer in (engine.isWriting, try engine.read { _ in engine.isWriting }) }
        report.expect(inside == (true, true) && !engine.isWriting, "a thread is writing inside a write, and only there")
        report.expect(sequences == [1, 3], "each commit is told once, with its newest sequence, not \(sequences)")
    }

    static func threads(_ engine: any StorageEngine, _ report: inout Report) throws {
        let failures = Guarded<[String]>([])
        let told = Guarded<[UpdateSequence]>([])
        engine.onCommit { notice in told.withLock { $0.append(notice.sequence) } }
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for number in 0..<50 {
                do {
                    let id = try DocumentID(validating: "\(thread).\(number)")
                    try (thread % 2 == 0 ? hold : commit)(engine) { writer in
                        _ = try writer.apply(.insert(record(id)))
                        if number % 5 == 4 { throw OnPurpose() }
                    }
                    if try engine.read({ try $0.record(of: id, withContent: false) }) == nil {
                        failures.withLock { $0.append("\(id) was acknowledged and is not there") }
                    }
                } catch is OnPurpose {} catch { failures.withLock { $0.append("\(error)") } }
            }
        }
        for failure in failures.withLock({ $0 }) { report.expect(false, failure) }
        report.expect(try engine.read { try $0.counts().live } == 320, "all that succeeded is there and nothing else")
        let found = try engine.read { try $0.records(changedIn: SequenceRange(), limit: 999, withContent: false) }
        report.expect(found.map(\.sequence.number) == Array(1...320), "sequences have no gap and no double")
        let sequences = told.withLock { $0 }
        report.expect(sequences == sequences.sorted() && sequences.last == 320, "commits are told in their order")
    }
}
