import Settle
import SettlePlatform
import Testing

@testable import SettleReplication

/// The rules of checkpoints, without peers, clock or chance.
struct CheckpointerTests {
    /// Two logs in memory, and what was done with them.
    private struct Logs {
        var source: JSONValue?
        var target: JSONValue?
        var closed: Set<Checkpointer.Side> = []
        var failure: PeerError?
        /// The side at which a log is written, and whose answer is lost.
        var silent: Checkpointer.Side?
        /// The side at which a log is written only after both were read again, and whose answer is lost.
        var slow: Checkpointer.Side?
        private var late: ReplicationLog?
        private(set) var steps: [String] = []
        private var revision = 0
        private var revisions: [Checkpointer.Side: String] = [:]

        mutating func run(_ event: Checkpointer.Event, _ checkpointer: inout Checkpointer) -> Checkpointer.Outcome {
            steps = []
            var action = checkpointer.handle(event)
            while true {
                switch action {
                case .read:
                    steps.append("read")
                    action = checkpointer.handle(.read(source: reading(.source), target: reading(.target)))
                case .save(let side, let log, let expected):
                    steps.append("save \(side)")
                    #expect(expected == revisions[side], "written over another revision than was read")
                    action = checkpointer.handle(save(log, side))
                case .end(let outcome): return outcome
                }
            }
        }

        private func reading(_ side: Checkpointer.Side) -> Checkpointer.Reading {
            if closed.contains(side) { return Checkpointer.Reading(log: .closed) }
            let json = side == .source ? source : target
            return Checkpointer.Reading(
                log: .log(json.map { ReplicationLog($0) } ?? ReplicationLog()), revision: revisions[side])
        }

        private mutating func save(_ log: ReplicationLog, _ side: Checkpointer.Side) -> Checkpointer.Event {
            if let failure { return .failed(failure) }
            guard !closed.contains(side) else { return .forbidden(side) }
            if side == slow {
                defer { late = late == nil ? log : nil }
                guard let late else { return .failed(PeerError(.connectionLost, "")) }
                slow = nil
                _ = save(late, side)
                return .failed(PeerError(.conflict, "conflict"))
            }
            revision += 1
            revisions[side] = "\(revision)"
            if side == .source { source = log.json } else { target = log.json }
            if side == silent { return .failed(PeerError(.connectionLost, "")) }
            return .saved(side, revision: "\(revision)")
        }
    }

    private var checkpointer: Checkpointer {
        let id = ReplicationID(source: "a", target: "b", filter: .all, branching: .allowed)
        return Checkpointer(id: id, start: WallTime(seconds: 0))
    }

    private func position(_ number: Int) -> PeerSequence { PeerSequence(.number(JSONNumber(number))) }

    private func write(_ number: Int, _ name: String) -> Checkpointer.Event {
        .write(position(number), ReplicationCounts(), name: name, time: WallTime(seconds: 60))
    }

    private func resume(_ logs: inout Logs, _ checkpointer: inout Checkpointer) throws -> ResumePoint {
        let info = PeerInfo(instance: "i", lastSequence: position(100))
        guard case .resumed(let point) = logs.run(.resume(source: info, target: info), &checkpointer) else {
            throw PeerError(.serverError, "not resumed")
        }
        return point
    }

    @Test func `a checkpoint is written to the target first, with the given name and times`() throws {
        var (logs, checkpointer) = (Logs(), checkpointer)
        #expect(try resume(&logs, &checkpointer).position == .start)
        guard case .written(nil) = logs.run(write(7, "n"), &checkpointer) else {
            Issue.record("not written")
            return
        }
        #expect(logs.steps == ["read", "save target", "save source"])
        #expect(logs.source == logs.target && checkpointer.recorded == position(7) && checkpointer.hasWritten)
        let entry = logs.source?["history"]?[0]
        #expect(entry?["session_id"] == "n" && entry?["recorded_seq"] == 7 && entry?["number"] == 1)
        #expect(entry?["start_time"] == "Thu, 01 Jan 1970 00:00:00 GMT")
        #expect(entry?["end_time"] == "Thu, 01 Jan 1970 00:01:00 GMT")
        var other = self.checkpointer
        #expect(try resume(&logs, &other).position == position(7) && !other.hasWritten)
    }

    @Test func `a log that was changed on one side is not overwritten`() throws {
        var (logs, checkpointer) = (Logs(), checkpointer)
        _ = try resume(&logs, &checkpointer)
        _ = logs.run(write(7, "n"), &checkpointer)
        let newest = logs.target
        logs.target = nil
        guard case .changed = logs.run(write(8, "o"), &checkpointer) else {
            Issue.record("not noticed")
            return
        }
        #expect(logs.steps == ["read"] && logs.source == newest && checkpointer.recorded == position(7))
    }

    @Test func `a log that was changed is not overwritten by a second attempt either`() throws {
        var (logs, checkpointer) = (Logs(), checkpointer)
        _ = try resume(&logs, &checkpointer)
        _ = logs.run(write(7, "n"), &checkpointer)
        logs.target = nil
        for name in ["o", "p"] {
            guard case .changed = logs.run(write(8, name), &checkpointer) else {
                Issue.record("not noticed by \(name)")
                return
            }
        }
        #expect(logs.target == nil && checkpointer.recorded == position(7))
    }

    @Test(arguments: Checkpointer.Side.allCases)
    func `a log that was written without an answer is not taken for another's`(side: Checkpointer.Side) throws {
        var (logs, checkpointer) = (Logs(), checkpointer)
        _ = try resume(&logs, &checkpointer)
        guard case .written = logs.run(write(7, "n"), &checkpointer) else {
            Issue.record("not written")
            return
        }
        logs.silent = side
        guard case .failed = logs.run(write(8, "o"), &checkpointer) else {
            Issue.record("the answer was not lost")
            return
        }
        logs.silent = nil
        guard case .written(nil) = logs.run(write(9, "p"), &checkpointer) else {
            Issue.record("taken for another's change")
            return
        }
        #expect(logs.source == logs.target)
        var next = self.checkpointer
        #expect(try resume(&logs, &next).position == position(9))
    }

    @Test func `two concurrent runs continue from each other's checkpoints`() throws {
        var (logs, first) = (Logs(), checkpointer)
        _ = try resume(&logs, &first)
        _ = logs.run(write(7, "n"), &first)
        var second = checkpointer
        _ = try resume(&logs, &second)
        _ = logs.run(write(9, "o"), &second)
        guard case .written(nil) = logs.run(write(8, "p"), &first) else {
            Issue.record("not written")
            return
        }
        #expect(logs.source?["history"]?.array?.compactMap { $0["session_id"]?.string } == ["p", "o", "n"])
    }

    @Test(arguments: Checkpointer.Side.allCases)
    func `the other side's log stands for a side that allows none`(closed: Checkpointer.Side) throws {
        var (logs, checkpointer) = (Logs(), checkpointer)
        let open: Checkpointer.Side = closed == .source ? .target : .source
        _ = try resume(&logs, &checkpointer)
        logs.closed = [closed]
        guard case .written(open) = logs.run(write(7, "n"), &checkpointer) else {
            Issue.record("not written on the other side")
            return
        }
        #expect((open == .source ? logs.source : logs.target)?["settle"]?["only"] == .string(open.rawValue))
        var other = self.checkpointer
        #expect(try resume(&logs, &other).position == position(7))
    }

    @Test func `a forbidden write is detected during the run, and noted on the side that could be written`() throws {
        var checkpointer = checkpointer
        _ = checkpointer.handle(write(7, "n"))
        let empty = Checkpointer.Reading(log: .log(ReplicationLog()))
        guard case .save(.target, let first, nil) = checkpointer.handle(.read(source: empty, target: empty)),
            case .save(.source, _, nil) = checkpointer.handle(.saved(.target, revision: "1")),
            case .save(.target, let second, "1") = checkpointer.handle(.forbidden(.source)),
            case .end(.written(onlyOn: .target)) = checkpointer.handle(.saved(.target, revision: "2"))
        else {
            Issue.record("another order")
            return
        }
        #expect(first.onlySide == nil && second.onlySide == "target")
    }

    @Test func `forgetting empties the existing logs, and starts from the beginning`() throws {
        var (logs, checkpointer) = (Logs(), checkpointer)
        guard case .forgotten = logs.run(.forget, &checkpointer) else {
            Issue.record("not forgotten")
            return
        }
        #expect(logs.steps == ["read"])
        _ = logs.run(write(7, "n"), &checkpointer)
        guard case .forgotten = logs.run(.forget, &checkpointer) else {
            Issue.record("not forgotten")
            return
        }
        #expect(logs.steps == ["read", "save target", "save source"] && checkpointer.recorded.isStart)
        var other = self.checkpointer
        #expect(try resume(&logs, &other).position.isStart)
    }

    @Test(arguments: Checkpointer.Side.allCases)
    func `a write that the server handles after the next reading is not taken for another's`(
        side: Checkpointer.Side
    ) throws {
        var (logs, checkpointer) = (Logs(), checkpointer)
        _ = try resume(&logs, &checkpointer)
        logs.slow = side
        guard case .failed = logs.run(write(7, "n"), &checkpointer) else {
            Issue.record("the answer was not lost")
            return
        }
        guard case .written(nil) = logs.run(write(8, "o"), &checkpointer) else {
            Issue.record("taken for another's change")
            return
        }
        #expect(logs.steps.suffix(3) == ["read", "save target", "save source"] && logs.source == logs.target)
    }

    @Test func `a conflict is a change, and another failure is reported`() throws {
        var (logs, checkpointer) = (Logs(), checkpointer)
        _ = try resume(&logs, &checkpointer)
        logs.failure = PeerError(.conflict, "conflict")
        guard case .changed = logs.run(write(7, "n"), &checkpointer) else {
            Issue.record("a conflict is no change")
            return
        }
        logs.failure = PeerError(.serverError, "down")
        guard case .failed(let error) = logs.run(write(7, "n"), &checkpointer) else {
            Issue.record("not failed")
            return
        }
        #expect(error.code == .serverError && !checkpointer.hasWritten && checkpointer.recorded.isStart)
    }
}
