import Settle
import SettleCore
import Testing

@testable import SettleReplication

/// Numbers from a peer or a stored list that overflow arithmetic.
@Suite struct ExtremeLengthTests {
    @Test func `lengths that a peer claims are added up without overflow`() throws {
        let stub: JSONValue = [
            "content_type": "text/plain", "digest": "md5-AAAAAAAAAAAAAAAAAAAAAA==",
            "length": .number(JSONNumber(Int.max)),
            "revpos": 1, "stub": true,
        ]
        let attachments = try ["a", "b"].map { name in
            var attachment = try PeerAttachment(WireAttachment(name, stub, .answer))
            attachment.content = .bytes([])
            return attachment
        }
        let history = try RevisionHistory(start: 1, signatures: [#require(RevisionID("1-a")).signature])
        let revision = PeerRevision(
            id: "d", history: history, attachments: attachments)
        #expect(revision.bytesToWrite == .max)
    }

    /// A source without bytes.
    private struct Nothing: AttachmentSource {
        func read(from offset: Int64, _ body: ([UInt8]) async throws -> Void) async throws {}
    }

    @Test func `the length of an upload is that of its parts, or the highest one`() {
        let short = MultipartBody([.bytes([1, 2]), .source(Nothing(), length: 3)])
        #expect(short.length == 5)
        let long = MultipartBody([.bytes([1, 2]), .source(Nothing(), length: .max), .source(Nothing(), length: .max)])
        #expect(long.length == .max)
    }

    @Test(arguments: [Int.max, Int.max / 2, Int.min])
    func `a flow continues after any number of pending changes that a peer claims`(claimed: Int) {
        var flow = Flow(FlowSettings(start: .start, end: PeerSequence(.string("9-x"))))
        _ = flow.handle(.begin, jitter: 0)
        let page = ChangesPage(changes: [], last: PeerSequence(.string("1-x")), pending: claimed)
        let actions = flow.handle(.changes(1, .success(page)), jitter: 0)
        #expect(!actions.isEmpty && flow.progress.total >= 0)
    }

    @Test func `a ledger counts on from any number without overflow`() {
        let entry: JSONValue = [
            "id": "d", "kind": "refused", "reason": "", "attempts": .number(JSONNumber(Int.max)),
        ]
        for number in [Int.max, Int.min] {
            var ledger = ReplicationLedger(["entries": [entry], "forgotten": .number(JSONNumber(number))])
            ledger.record("d", nil, .refused, reason: "", status: nil)
            for index in 0..<ReplicationLedger.maximumEntries + 2 {
                ledger.record(DocumentID(stringLiteral: "e\(index)"), nil, .refused, reason: "", status: nil)
            }
            #expect(ledger.count == ReplicationLedger.maximumEntries && ledger.forgotten > 0)
        }
    }
}
