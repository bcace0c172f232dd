import Settle
import SettleDatabase
import SettleTesting

@testable import SettleReplication

/// A flow between two databases without I/O whose answers arrive in any order: each action is kept, and a random one is
/// performed next.
struct FlowWorld {
    struct Document {
        var sequence: Int
        var leaves: [RevisionID]
        var size: Int
    }

    var random: SeededRandom
    var flow: Flow
    var source: [DocumentID: Document] = [:]
    var lastSequence = 0
    var target: Set<String> = []
    var open: [FlowAction] = []
    var refused: Set<String> = []
    var unlucky: Set<String> = []
    /// The server fails permanently at these documents, and so at every request that includes one.
    var poison: Set<String> = []
    var fetched: [String: Int] = [:]
    var stored: [String: Int] = [:]
    var listed: Set<String> = []
    var failures = 0
    var end: PeerError??
    var maximumBytes = 0
    var largest = 0
    var problems: [String] = []

    init(seed: UInt64, _ settings: FlowSettings) {
        random = SeededRandom(seed: seed)
        flow = Flow(settings)
    }

    private static let broken = PeerError(.serverError, "it failed", status: 500)

    static func key(_ id: DocumentID, _ revision: RevisionID) -> String { "\(id) \(revision)" }

    /// Changes a document at the source.
    mutating func write(_ id: DocumentID, size: Int) {
        lastSequence += 1
        var document = source[id] ?? Document(sequence: 0, leaves: [], size: size)
        document.sequence = lastSequence
        let generation = (document.leaves.map(\.generation).max() ?? 0) + 1
        let digits = String(random.next() % 0xffff_ffff, radix: 16)
        guard let revision = RevisionID("\(generation)-\(digits)") else { return }
        if !document.leaves.isEmpty, !random.oneIn(3) { document.leaves.removeLast() }
        document.leaves.append(revision)
        source[id] = document
    }

    /// Sends an event to the flow, and checks the invariants.
    mutating func send(_ event: FlowEvent) {
        let actions = flow.handle(event, jitter: Double(random.below(100)) / 100)
        for action in actions {
            switch action {
            case .report(let report):
                for problem in report.problems { listed.insert(Self.key(report.id, problem.revision)) }
            case .end(let error): end = .some(error)
            case .startOver: problems.append("it began anew")
            case .present(let ids): for id in ids { checkIsThere(id) }
            default: open.append(action)
            }
        }
        let progress = flow.progress
        if progress.completed > progress.total { problems.append("\(progress.completed) of \(progress.total)") }
        maximumBytes = max(maximumBytes, flow.bytesOnTheWay)
        checkPosition()
    }

    /// Revisions reported as present are at the target.
    private mutating func checkIsThere(_ id: DocumentID) {
        guard !target.contains(where: { $0.hasPrefix("\(id) ") }) else { return }
        problems.append("\(id) is not at the target")
    }

    /// No position passes a leaf that the target lacks and that is not listed.
    private mutating func checkPosition() {
        guard let position = flow.tracker.position.number else { return }
        for (id, document) in source where document.sequence <= Int(position) {
            for leaf in document.leaves {
                let key = Self.key(id, leaf)
                if !target.contains(key), !listed.contains(key) || flow.settings.holdsRefused && refused.contains(key) {
                    problems.append("position \(position) passed \(key) of \(document.sequence)")
                }
            }
        }
    }

    /// Performs one of the open actions for which `mayRun` is true; returns whether there was one.
    mutating func step(where mayRun: (FlowAction) -> Bool = { _ in true }) -> Bool {
        let ready = open.indices.filter { index in
            guard mayRun(open[index]) else { return false }
            guard case .read(_, let request) = open[index], request.wait != nil else { return true }
            return lastSequence > Int(request.since.number ?? 0)
        }
        guard let index = random.pick(ready) else { return false }
        let action = open.remove(at: index)
        let fails = failures > 0 && random.oneIn(8)
        if fails { failures -= 1 }
        let error = PeerError(random.oneIn(2) ? .connectionLost : .busy, "bad luck")
        switch action {
        case .read(let id, let request): send(.changes(id, fails ? .failure(error) : .success(page(request))))
        case .compare(let id, let changes):
            send(.differences(id, fails ? .failure(error) : .success(differences(changes))))
        case .fetch(let id, let requests, let budget):
            let isPoisoned = requests.contains { poison.contains(Self.key($0.id, $0.revision)) } && random.oneIn(2)
            let answers: Result<[RevisionAnswer], PeerError> =
                fails ? .failure(error) : isPoisoned ? .failure(Self.broken) : .success(answer(requests, budget))
            send(.revisions(id, answers, took: .milliseconds(random.below(9000))))
        case .store(let id, let revisions):
            let isPoisoned = revisions.contains { poison.contains(Self.key($0.id, $0.revision)) }
            send(
                .outcomes(id, fails ? .failure(error) : isPoisoned ? .failure(Self.broken) : .success(store(revisions)))
            )
        case .probe(let id): send(.probed(id, fails ? .failure(error) : .success(())))
        case .wait(let id, _): send(.time(id))
        case .report, .present, .startOver, .end: break
        }
        return true
    }

    private func number(_ value: Int) -> PeerSequence { PeerSequence(.number(JSONNumber(value))) }

    private func page(_ request: ChangesRequest) -> ChangesPage {
        let since = Int(request.since.number ?? 0)
        let all = source.filter { $0.value.sequence > since }.sorted { $0.value.sequence < $1.value.sequence }
        let rows = all.prefix(request.limit).map {
            ChangedDocument(sequence: number($0.value.sequence), id: $0.key, leaves: $0.value.leaves)
        }
        let last = all.count > request.limit ? rows.last?.sequence : number(lastSequence)
        return ChangesPage(changes: rows, last: last ?? number(lastSequence), pending: max(0, all.count - rows.count))
    }

    private func differences(_ changes: [ChangedDocument]) -> [RevisionsDiff] {
        changes.compactMap { change in
            let missing = change.leaves.filter { !target.contains(Self.key(change.id, $0)) }
            return missing.isEmpty ? nil : RevisionsDiff(id: change.id, missing: missing)
        }
    }

    private mutating func answer(_ requests: [RevisionRequest], _ budget: Int) -> [RevisionAnswer] {
        var answers: [RevisionAnswer] = []
        var rest = budget
        for request in requests {
            let key = Self.key(request.id, request.revision)
            if unlucky.contains(key), random.oneIn(2) {
                answers.append(.failed(PeerError(.busy, "not now")))
                continue
            }
            fetched[key, default: 0] += 1
            let body = "{\"a\":\"" + String(repeating: "x", count: source[request.id]?.size ?? 0) + "\"}"
            let revision = PeerRevision(
                id: request.id, history: RevisionHistory(request.revision),
                body: (try? DocumentBody(parsing: body)) ?? .empty)
            largest = max(largest, revision.bytesInMemory)
            answers.append(.found(revision))
            rest -= revision.bytesInMemory
            if rest <= 0 || random.oneIn(20) { break }
        }
        return answers
    }

    private mutating func store(_ revisions: [PeerRevision]) -> [StoreOutcome] {
        revisions.map { revision in
            let key = Self.key(revision.id, revision.revision)
            if refused.contains(key) { return .refused(PeerError(.forbidden, "no")) }
            if unlucky.contains(key), random.oneIn(3) { return .failed(PeerError(.busy, "not now")) }
            stored[key, default: 0] += 1
            return target.insert(key).inserted ? .stored : .known
        }
    }
}
