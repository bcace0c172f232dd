import SettleDatabase
import SettleTesting
import Testing

@testable import SettleServer

/// Stands for a connection.
private final class Connection {}

/// Who may work where it polls.
struct LoneTurnTests {
    private let here = ThreadID.current

    private func takes(_ turn: LoneTurn) -> Bool {
        var isDone = false
        turn.take { isDone = true }
        return isDone
    }

    @Test func `a thread with one connection takes the turn, and one with two or none does not`() {
        let turn = LoneTurn()
        #expect(!takes(turn))
        turn.open(on: here)
        #expect(takes(turn))
        #expect(takes(turn))
        turn.open(on: here)
        #expect(!takes(turn))
        turn.close(on: here)
        #expect(takes(turn))
        turn.close(on: here)
        #expect(!takes(turn))
    }

    @Test func `of a few connections the only one that asks takes the turn, until another asks`() {
        let turn = LoneTurn()
        let (one, other) = (Connection(), Connection())
        for _ in 0..<4 { turn.open(on: here) }
        for _ in 1..<LoneTurn.leastRun { turn.begin(one) }
        #expect(!takes(turn))
        turn.begin(one)
        #expect(takes(turn))
        turn.begin(other)
        #expect(!takes(turn))
        for _ in 0..<LoneTurn.leastRun { turn.begin(one) }
        #expect(takes(turn))
        turn.open(on: here)
        #expect(!takes(turn))
    }

    @Test func `while one has it no other gets it`() {
        let turn = LoneTurn()
        turn.open(on: here)
        var isTakenTwice: Bool?
        turn.take { isTakenTwice = takes(turn) }
        #expect(isTakenTwice == false)
        #expect(takes(turn))
    }

    @Test(arguments: [
        ("PUT", "/db/a", true), ("DELETE", "/db/a?rev=1-a", true), ("POST", "/db", true),
        ("GET", "/db/a", false), ("COPY", "/db/a", false), ("PUT", "/db", false), ("PUT", "/db/a/file", false),
        ("PUT", "/_users/a", false), ("POST", "/_replicator", false), ("POST", "/db/_bulk_docs", false),
        ("PUT", "/db/_design/d", false), ("POST", "/_session", false), ("PUT", "/nowhere/at/all/b", false),
    ])
    func `an edit of one ordinary document is short, and nothing else`(
        method: String, path: String, isShort: Bool
    ) throws {
        let router = try RouterClient.withDatabase().server.router
        let request = HTTPRequest(
            method: method, target: RequestTarget(path), headers: HTTPHeaders(), body: BufferedBody())
        #expect(router.isShortEdit(request) == isShort)
    }
}
