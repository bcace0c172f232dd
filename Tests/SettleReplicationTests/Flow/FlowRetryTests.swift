import Settle
import SettleDatabase
import Testing

@testable import SettleReplication

/// How a flow handles failures and retries, step by step.
struct FlowRetryTests {
    private static let lost = PeerError(.connectionLost, "cut")

    private func sequence(_ number: Int) -> PeerSequence { PeerSequence(.number(JSONNumber(number))) }

    private func page(_ number: Int, _ id: DocumentID, _ leaf: String) throws -> ChangesPage {
        let change = ChangedDocument(sequence: sequence(number), id: id, leaves: [try #require(RevisionID(leaf))])
        return ChangesPage(changes: [change], last: sequence(number), pending: 0)
    }

    /// A continuous flow that gives up on a document at its first failure.
    private func makeFlow() -> Flow {
        var settings = FlowSettings(start: .start, end: sequence(1))
        settings.isContinuous = true
        settings.retry.documentRetries = 0
        return Flow(settings)
    }

    /// Starts a flow with one document, up to the request for it.
    private func fetch(_ flow: inout Flow, _ id: DocumentID) throws -> (fetch: Int, read: Int) {
        var actions = flow.handle(.begin, jitter: 0)
        let first = try #require(actions.compactMap(\.readID).first)
        actions = flow.handle(.changes(first, .success(try page(1, id, "1-a"))), jitter: 0)
        let read = try #require(actions.compactMap(\.readID).first)
        let compare = try #require(actions.compactMap(\.compareID).first)
        let missing = RevisionsDiff(id: id, missing: [try #require(RevisionID("1-a"))])
        actions = flow.handle(.differences(compare, .success([missing])), jitter: 0)
        return (try #require(actions.compactMap(\.fetchID).first), read)
    }

    /// Starts a flow with one document, up to storing it.
    private func store(_ flow: inout Flow, _ id: DocumentID) throws -> (store: Int, read: Int) {
        let (fetch, read) = try fetch(&flow, id)
        let revision = PeerRevision(
            id: id, history: RevisionHistory(try #require(RevisionID("1-a"))), body: try DocumentBody(parsing: "{}"))
        let actions = flow.handle(.revisions(fetch, .success([.found(revision)]), took: .zero), jitter: 0)
        return (try #require(actions.compactMap(\.storeID).first), read)
    }

    private func endsWell(_ actions: [FlowAction]) -> Bool {
        actions.contains { if case .end(nil) = $0 { true } else { false } }
    }

    @Test func `a document that is retried does not hide its newer, waiting change`() throws {
        var flow = makeFlow()
        let (fetch, read) = try fetch(&flow, "d")
        var actions = flow.handle(.revisions(fetch, .success([.failed(Self.lost)]), took: .zero), jitter: 0)
        let again = try #require(actions.compactMap(\.waitID).first)
        actions = flow.handle(.changes(read, .success(try page(5, "d", "2-b"))), jitter: 0)
        let compare = try #require(actions.compactMap(\.compareID).first)
        let next = try #require(actions.compactMap(\.readID).first)
        actions = flow.handle(.changes(next, .success(try page(9, "d", "3-c"))), jitter: 0)
        #expect(actions.compactMap(\.compareID).isEmpty)
        #expect(flow.handle(.time(again), jitter: 0).compactMap(\.compareID).isEmpty)
        actions = flow.handle(.differences(compare, .success([])), jitter: 0)
        let compared = actions.compactMap(\.compared).flatMap(\.self)
        #expect(compared.map(\.leaves) == [[try #require(RevisionID("3-c"))]])
        #expect(flow.tracker.position == sequence(5))
    }

    @Test func `a stopped flow does not wait for revisions that can't be stored now`() throws {
        var waiting = makeFlow()
        let (store, _) = try store(&waiting, "d")
        #expect(waiting.handle(.outcomes(store, .failure(Self.lost)), jitter: 0).compactMap(\.waitID) == [store])
        #expect(endsWell(waiting.handle(.stop, jitter: 0)))
        #expect(waiting.tracker.position == .start)

        var storing = makeFlow()
        let (other, _) = try self.store(&storing, "d")
        #expect(storing.handle(.stop, jitter: 0).isEmpty)
        #expect(endsWell(storing.handle(.outcomes(other, .failure(Self.lost)), jitter: 0)))
    }

    // SEMANTICS 105
    @Test func `one reachable peer does not hide that the other is unreachable`() throws {
        var flow = makeFlow()
        let (store, read) = try store(&flow, "d")
        _ = flow.handle(.outcomes(store, .failure(Self.lost)), jitter: 0)
        _ = flow.handle(.changes(read, .success(try page(2, "e", "1-a"))), jitter: 0)
        #expect(flow.unreachable?.code == .connectionLost)
        _ = flow.handle(.time(store), jitter: 0)
        _ = flow.handle(.outcomes(store, .success([.stored])), jitter: 0)
        #expect(flow.unreachable == nil)
    }

    /// Answers a request for changes with an empty page, and returns the next request of the flow.
    private func answer(_ id: Int, of flow: inout Flow) throws -> (id: Int, request: ChangesRequest) {
        let nothing = ChangesPage(changes: [], last: .start)
        return try #require(flow.handle(.changes(id, .success(nothing)), jitter: 0).compactMap(\.read).first)
    }

    // SEMANTICS 105
    @Test func `a source that comes back is reachable before it has changes`() throws {
        var flow = makeFlow()
        let first = try #require(flow.handle(.begin, jitter: 0).compactMap(\.read).first)
        let wait = try answer(first.id, of: &flow)
        #expect(wait.request.wait != nil)
        _ = flow.handle(.changes(wait.id, .failure(Self.lost)), jitter: 0)
        #expect(flow.unreachable?.code == .connectionLost)
        let again = try #require(flow.handle(.network, jitter: 0).compactMap(\.read).first)
        #expect(again.request.wait == nil)
        let next = try answer(again.id, of: &flow)
        #expect(flow.unreachable == nil && flow.isIdle && next.request.wait != nil)
    }

    @Test func `a source whose server can't serve changes counts as away until it answers`() throws {
        for code in [PeerError.Code.busy, .serverError, .badAnswer] {
            var flow = makeFlow()
            let first = try #require(flow.handle(.begin, jitter: 0).compactMap(\.read).first)
            let wait = try answer(first.id, of: &flow)
            #expect(flow.unreachable == nil && flow.isIdle)
            _ = flow.handle(.changes(wait.id, .failure(PeerError(code, "down"))), jitter: 0)
            #expect(flow.unreachable?.code == code)
            _ = flow.handle(.time(wait.id), jitter: 0)
            #expect(flow.unreachable?.code == code)
            _ = try answer(wait.id, of: &flow)
            #expect(flow.unreachable == nil && flow.isIdle)
        }
    }

    @Test func `a target that fails at documents does not count as away`() throws {
        var flow = makeFlow()
        let (store, _) = try store(&flow, "d")
        let actions = flow.handle(.outcomes(store, .failure(PeerError(.serverError, "it failed"))), jitter: 0)
        #expect(actions.compactMap(\.waitID) == [store] && flow.unreachable == nil)
    }

    @Test func `a source that fails whenever it waits is asked less and less often`() throws {
        var flow = makeFlow()
        let first = try #require(flow.handle(.begin, jitter: 0).compactMap(\.read).first)
        var wait = try answer(first.id, of: &flow)
        var delays: [Duration] = []
        for round in 0..<6 {
            // In the fifth round it can wait.
            if round == 4 { wait = try answer(wait.id, of: &flow) }
            let failed = flow.handle(.changes(wait.id, .failure(Self.lost)), jitter: 0)
            delays += failed.compactMap(\.delay)
            let again = try #require(flow.handle(.time(wait.id), jitter: 0).compactMap(\.read).first)
            wait = try answer(again.id, of: &flow)
        }
        #expect(delays == [.seconds(0.5), .seconds(1), .seconds(2), .seconds(4), .seconds(0.5), .seconds(1)])
    }

    // SEMANTICS 105
    @Test func `a repeated transfer is connected as soon as the peers are reached`() throws {
        for isFetch in [true, false] {
            var flow = makeFlow()
            let id = isFetch ? try fetch(&flow, "d").fetch : try store(&flow, "d").store
            let lost: FlowEvent =
                isFetch ? .revisions(id, .failure(Self.lost), took: .zero) : .outcomes(id, .failure(Self.lost))
            _ = flow.handle(lost, jitter: 0)
            let probe = try #require(flow.handle(.time(id), jitter: 0).compactMap(\.probeID).first)
            #expect(flow.unreachable != nil)
            #expect(flow.handle(.probed(probe, .success(())), jitter: 0).isEmpty && flow.unreachable == nil)
            _ = flow.handle(lost, jitter: 0)
            #expect(flow.unreachable != nil)
        }
    }

    @Test func `a cancelled call ends the flow`() throws {
        var flow = makeFlow()
        let (fetch, _) = try fetch(&flow, "d")
        let closed = PeerError(.cancelled, "the peer is closed")
        let actions = flow.handle(.revisions(fetch, .failure(closed), took: .zero), jitter: 0)
        guard case .end(let error?) = actions.first else {
            Issue.record("\(actions)")
            return
        }
        #expect(error.code == .cancelled)
    }

    @Test func `a document that failed and is replicated later is counted once`() throws {
        var flow = makeFlow()
        let (fetch, _) = try fetch(&flow, "d")
        var actions = flow.handle(.revisions(fetch, .success([.failed(Self.lost)]), took: .zero), jitter: 0)
        #expect(flow.counts.revisionsFailed == 1)
        expectSums(flow.counts)
        let again = try #require(actions.compactMap(\.waitID).first)
        actions = flow.handle(.time(again), jitter: 0)
        let compare = try #require(actions.compactMap(\.compareID).first)
        _ = flow.handle(.differences(compare, .success([])), jitter: 0)
        expectSums(flow.counts)
        #expect(flow.counts.revisionsChecked == 1 && flow.counts.revisionsPresent == 1)
        #expect(flow.counts.revisionsFailed == 0)
        #expect(flow.tracker.position == sequence(1))
    }
}

extension FlowAction {
    fileprivate var readID: Int? { read?.id }
    fileprivate var read: (id: Int, request: ChangesRequest)? {
        if case .read(let id, let request) = self { (id, request) } else { nil }
    }
    fileprivate var compareID: Int? { if case .compare(let id, _) = self { id } else { nil } }
    fileprivate var compared: [ChangedDocument]? { if case .compare(_, let changes) = self { changes } else { nil } }
    fileprivate var fetchID: Int? { if case .fetch(let id, _, _) = self { id } else { nil } }
    fileprivate var storeID: Int? { if case .store(let id, _) = self { id } else { nil } }
    fileprivate var waitID: Int? { if case .wait(let id, _) = self { id } else { nil } }
    fileprivate var probeID: Int? { if case .probe(let id) = self { id } else { nil } }
    fileprivate var delay: Duration? { if case .wait(_, let delay) = self { delay } else { nil } }
}
