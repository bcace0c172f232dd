import Settle
import SettlePlatform
import Testing

@testable import SettleReplication

/// Replication logs, as values.
struct ReplicationLogTests {
    private func entry(_ number: Int, _ position: Int? = nil) -> CheckpointEntry {
        CheckpointEntry(
            sessionID: "s\(number)", number: number, started: "", ended: "", from: .start,
            to: PeerSequence(.number(JSONNumber(position ?? number))), ReplicationCounts())
    }

    private func log(_ numbers: [Int]) -> ReplicationLog {
        var log = ReplicationLog()
        log.history = numbers.map { entry($0) }
        return log
    }

    private func info(_ last: Int, _ instance: String = "i") -> PeerInfo {
        PeerInfo(instance: instance, lastSequence: PeerSequence(.number(JSONNumber(last))))
    }

    @Test func `a log is written and read with CouchDB's members`() throws {
        var log = log([3, 2, 1])
        log.sourceInstance = "a"
        log.onlySide = "target"
        #expect(ReplicationLog(log.json) == log)
        #expect(log.json["session_id"] == "s3")
        #expect(log.json["source_last_seq"] == 3)
        let names = log.json["history"]?[0]?.object?.names ?? []
        let expected = [
            "session_id", "start_time", "end_time", "start_last_seq", "end_last_seq", "recorded_seq", "missing_checked",
            "missing_found", "docs_read", "docs_written", "doc_write_failures",
        ]
        #expect(Set(names).isSuperset(of: expected))
    }

    @Test func `older checkpoints are kept more sparsely, and none is far from any age`() {
        var log = ReplicationLog()
        for number in 1...20_000 {
            log.add(entry(number))
            #expect(log.history.count <= ReplicationLog.maximumHistory)
        }
        let ages = log.history.map { 20_000 - $0.number }
        #expect(ages.prefix(10).elementsEqual(0..<10))
        #expect(ages.last == 19_999)
        for (newer, older) in zip(ages.dropFirst(9), ages.dropFirst(10)) {
            #expect(older <= 2 * newer + 1, "from \(newer) to \(older)")
        }
    }

    @Test func `a replication starts at the newest checkpoint that both sides have`() {
        let same = ResumePoint(source: (.log(log([3, 2, 1])), info(9)), target: (.log(log([3, 2, 1])), info(1)))
        #expect(same.position.number == 3 && same.problem == nil)
        let restored = ResumePoint(source: (.log(log([2, 1])), info(9)), target: (.log(log([5, 4, 2, 1])), info(1)))
        #expect(restored.position.number == 2 && restored.problem != nil)
        #expect(restored.log.history.map(\.sessionID) == ["s2", "s1"])
        let behind = ResumePoint(source: (.log(log([5, 4, 1])), info(9)), target: (.log(log([4, 1])), info(1)))
        #expect(behind.position.number == 4 && behind.problem != nil)
        let none = ResumePoint(source: (.log(log([5])), info(9)), target: (.log(log([4])), info(1)))
        #expect(none.position.isStart && none.problem != nil)
        let first = ResumePoint(source: (.log(log([])), info(9)), target: (.log(log([])), info(1)))
        #expect(first.position.isStart && first.problem == nil)
    }

    @Test func `a log on one side alone is trusted only where the other side allows none`() {
        let lost = ResumePoint(source: (.log(log([])), info(9)), target: (.log(log([4])), info(1)))
        #expect(lost.position.isStart && lost.problem != nil)
        let closed = ResumePoint(source: (.closed, info(9)), target: (.log(log([4])), info(1)))
        #expect(closed.position.number == 4 && closed.problem == nil)
        var only = log([4])
        only.onlySide = "target"
        only.sourceInstance = "i"
        let known = ResumePoint(source: (.log(log([])), info(9)), target: (.log(only), info(1)))
        #expect(known.position.number == 4)
        let other = ResumePoint(source: (.log(log([])), info(9, "j")), target: (.log(only), info(1)))
        #expect(other.position.isStart && other.problem != nil)
        let older = ResumePoint(source: (.closed, info(3)), target: (.log(log([4])), info(1)))
        #expect(older.position.isStart && older.problem != nil)
    }

    // SEMANTICS 134
    @Test func `a replication's id depends on its meaning`() throws {
        func id(_ filter: ReplicationFilter, _ source: String = "a", _ branching: Branching = .allowed) -> String {
            ReplicationID(source: source, target: "b", filter: filter, branching: branching).description
        }
        #expect(id(.all).count == 32)
        #expect(id(.all) == id(.all))
        #expect(id(.all) != id(.all, "c"))
        #expect(id(.all) != id(.all, "a", .refused))
        let selectors = try [MangoSelector(["a": 1, "b": ["$gt": 1]]), MangoSelector(["b": ["$gt": 1], "a": 1])]
        #expect(id(.selector(selectors[0])) == id(.selector(selectors[1])))
        #expect(id(.documents(["x", "y", "x"])) == id(.documents(["y", "x"])))
        #expect(id(.documents(["x"])) != id(.documents(["y"])))
        #expect(
            id(.named("f", parameters: ["a": "1", "b": "2"])) == id(.named("f", parameters: ["b": "2", "a": "1"])))
        #expect(id(.named("f", parameters: ["a": "1"])) != id(.named("f")))
        #expect(
            id(.named("f", parameters: ["o": ["a": 1, "b": 2]]))
                == id(.named("f", parameters: ["o": ["b": 2, "a": 1]])))
        #expect(id(.named("f", parameters: ["a": 1])) != id(.named("f", parameters: ["a": "1"])))
        let codes = [nil, "function () {}", "function () { return true }"].map { code in
            ReplicationID(source: "a", target: "b", filter: .named("f"), filterCode: code, branching: .allowed)
        }
        #expect(Set(codes).count == 3 && codes[0].description == id(.named("f")))
        #expect(id(.channels(["a", "b"])) == id(.channels(["b", "a", "a"])))
        // The same letter as one character, and as two.
        let both = id(.channels(["\u{E9}", "e\u{301}"]))
        #expect(both == id(.channels(["e\u{301}", "\u{E9}"])))
        #expect(both != id(.channels(["\u{E9}"])) && both != id(.channels(["e\u{301}"])))
    }

    @Test func `times are written in CouchDB's format`() {
        #expect(WallTime(seconds: 784_111_777).http == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(WallTime(seconds: 784_111_777).iso8601 == "1994-11-06T08:49:37Z")
        #expect(WallTime(seconds: 0).http == "Thu, 01 Jan 1970 00:00:00 GMT")
        #expect(WallTime(seconds: 1_709_164_800).http == "Thu, 29 Feb 2024 00:00:00 GMT")
    }
}
