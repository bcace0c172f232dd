import Settle
import SettleDatabase
import SettleMobile
import SettlePlatform
import Testing

@testable import SettleReplication

/// Pages of changes and their revisions, as a server sends them.
@Suite(.timeLimit(.minutes(5))) struct MobileSubscriptionTests {
    private let answers = Guarded<[(number: UInt64, answer: BLIPMessage)]>([])
    private let subscription: MobileSubscription

    init() {
        subscription = MobileSubscription("the server") { [answers] message, answer in
            answers.withLock { $0.append((message.number, answer)) }
        }
    }

    private func give(_ number: UInt64, _ profile: String, _ properties: [String: String] = [:], _ body: String = "") {
        let all = properties.merging(["Profile": profile]) { $1 }
        subscription.receive(BLIPMessage(number: number, properties: all, body: Array(body.utf8)))
    }

    /// The numbers of the answered messages, and the bodies or the codes of the answers.
    private var given: [String] {
        answers.withLock { answers in
            answers.map { number, answer in
                "\(number): " + (answer.failure.map { "\($0.code)" } ?? String(decoding: answer.body, as: UTF8.self))
            }
        }
    }

    private func key(_ id: DocumentID, _ revision: String) throws -> MobileSubscription.Key {
        MobileSubscription.Key(id: id, revision: try #require(RevisionID(revision)))
    }

    private func lack(_ change: ChangedDocument, _ ancestors: String...) throws -> RevisionsDiff {
        RevisionsDiff(
            id: change.id, missing: change.leaves,
            possibleAncestors: try ancestors.map { try #require(RevisionID($0)) })
    }

    @Test func `a page is answered when all its rows are compared, with known ancestors and 0`() async throws {
        give(1, "changes", [:], #"[[1,"a","2-aa"],[2,"b","1-bb"],[3,"_local/x","1-cc"],[4,"c","1-cc",1],[5,"d","no"]]"#)
        let (changes, isOver) = try await subscription.changes(limit: 10, wait: nil)
        #expect(changes.map(\.id.string) == ["a", "b", "c"] && changes.map(\.isDeleted) == [false, false, true])
        #expect(!isOver)
        subscription.record(missing: [try lack(changes[0], "1-ff")], of: Array(changes[..<2]))
        #expect(given.isEmpty)
        subscription.record(missing: [try lack(changes[2])], of: Array(changes[2...]))
        #expect(given == [#"1: [["1-ff"],0,0,[],0]"#])
    }

    @Test func `a later row of a document decides the earlier ones, also of earlier pages`() async throws {
        give(1, "changes", [:], #"[[1,"a","1-aa"]]"#)
        give(2, "changes", [:], #"[[2,"a","2-aa"],[3,"a","3-aa"]]"#)
        let changes = try await subscription.changes(limit: 10, wait: nil).changes
        #expect(changes.count == 3)
        subscription.record(missing: [try lack(changes[2])], of: [changes[2]])
        #expect(given == ["1: [0]", "2: [0,[]]"])
    }

    @Test func `changes come in the asked number, and the end is known after the last`() async throws {
        give(1, "changes", [:], #"[[1,"a","1-aa"],[2,"b","1-bb"],[3,"c","1-cc"]]"#)
        give(2, "changes")
        #expect(given == ["2: "])
        let first = try await subscription.changes(limit: 2, wait: nil)
        let second = try await subscription.changes(limit: 2, wait: nil)
        let third = try await subscription.changes(limit: 2, wait: nil)
        #expect(first.changes.count == 2 && !first.hasReachedEnd)
        #expect(second.changes.count == 1 && second.hasReachedEnd)
        #expect(third.changes.isEmpty && third.hasReachedEnd)
        let waited = try await subscription.changes(limit: 2, wait: .milliseconds(20))
        #expect(waited.changes.isEmpty && !waited.hasReachedEnd)
    }

    @Test func `a wanted revision is waited for, and another one is refused`() async throws {
        give(1, "changes", [:], #"[[1,"a","1-aa"],[2,"b","1-bb"]]"#)
        let changes = try await subscription.changes(limit: 10, wait: nil).changes
        subscription.record(missing: try changes.map { try lack($0) }, of: changes)
        async let waiting = subscription.revision(key("a", "1-aa"))
        give(2, "rev", ["id": "z", "rev": "1-aa"], "{}")
        give(3, "norev", ["id": "b", "rev": "1-bb", "reason": "not here"])
        give(4, "rev", ["id": "a", "rev": "1-aa"], #"{"n":1}"#)
        guard case .arrived(let message) = try await waiting,
            case .missing(let reason) = try await subscription.revision(key("b", "1-bb")),
            case .unknown = try await subscription.revision(key("z", "1-aa")),
            case .unknown = try await subscription.revision(key("a", "1-aa"))
        else {
            Issue.record("another outcome")
            return
        }
        #expect(message.number == 4 && reason.contains("not here"))
        #expect(given == ["1: [[],[]]", "2: 404"])
    }

    @Test func `rows that nobody compares count as not wanted two seconds after one is asked for`() async throws {
        give(1, "changes", [:], #"[[1,"a","1-aa"],[2,"b","1-bb"]]"#)
        let changes = try await subscription.changes(limit: 1, wait: nil).changes
        subscription.record(missing: [try lack(changes[0])], of: changes)
        guard case .unknown = try await subscription.revision(key("b", "1-bb")) else {
            Issue.record("another outcome")
            return
        }
        #expect(given == ["1: [[],0]"])
    }

    @Test func `the end of the connection and an unreadable page end what waits`() async throws {
        let waiting = Task { try await subscription.changes(limit: 1, wait: .seconds(60)) }
        give(1, "changes", [:], #"{"a":1}"#)
        #expect(given == ["1: 400"])
        await #expect(throws: PeerError.self) { _ = try await waiting.value }
        let other = MobileSubscription("the server") { _, _ in }
        let ended = Task { try await other.changes(limit: 1, wait: nil) }
        other.end()
        let error = await #expect(throws: PeerError.self) { _ = try await ended.value }
        #expect(error?.code == .connectionLost)
        guard case .unknown = try await other.revision(key("a", "1-aa")) else {
            Issue.record("another outcome")
            return
        }
    }
}
