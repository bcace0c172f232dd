internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// The documents whose conflicts are pending, each once; several are settled concurrently.
struct ConflictQueue: Sendable {
    private var waiting = Queue<DocumentID>()
    private var isWaiting: Set<DocumentID> = []
    private var active: Set<DocumentID> = []
    private var reports: [DocumentID: DocumentReport] = [:]
    private let atOnce: Int
    /// Whether the search for existing conflicts is still running.
    private(set) var isSweeping = false
    /// The documents whose conflicts could not be settled while the search was running, which may find them again.
    private var failed: Set<DocumentID> = []

    init(atOnce: Int) { self.atOnce = max(1, atOnce) }

    /// How many are waiting or being settled.
    var count: Int { waiting.count + active.count }

    /// Whether nothing is pending (SEMANTICS 39, 40).
    var isEmpty: Bool { count == 0 && !isSweeping }

    /// Whether a document is pending.
    func contains(_ id: DocumentID) -> Bool { isWaiting.contains(id) || active.contains(id) }

    /// Adds a document; one that is being settled is added again.
    mutating func add(_ id: DocumentID) {
        if isWaiting.insert(id).inserted { waiting.append(id) }
    }

    /// Begins the search for existing conflicts.
    mutating func beginSweep() { isSweeping = true }

    /// Adds the documents that the search found, and says whether it goes on. A conflict that failed since the search began has
    /// had its attempt.
    mutating func take(_ found: [DocumentID], goesOn: Bool) {
        for id in found where !failed.contains(id) { add(id) }
        isSweeping = goesOn
        if !goesOn { failed = [] }
    }

    /// Remembers that a conflict could not be settled, as long as the search may find it.
    mutating func noteFailure(_ id: DocumentID) {
        if isSweeping { failed.insert(id) }
    }

    /// Keeps a document's report until its conflict is settled.
    mutating func keep(_ report: DocumentReport) { reports[report.id] = report }

    /// The next document to settle, unless the limit is reached.
    mutating func next() -> DocumentID? {
        guard active.count < atOnce, let id = waiting.popFirst() else { return nil }
        // It changed while it is being settled, so it is settled again afterwards.
        guard !active.contains(id) else {
            waiting.append(id)
            return nil
        }
        isWaiting.remove(id)
        active.insert(id)
        return id
    }

    /// Ends a document's turn; returns its report, unless the document is to be settled again.
    mutating func finish(_ id: DocumentID) -> (report: DocumentReport?, isLast: Bool) {
        active.remove(id)
        return (reports.removeValue(forKey: id), !isWaiting.contains(id))
    }

    /// Removes all waiting documents.
    mutating func clear() {
        (waiting, isWaiting, isSweeping, failed) = (Queue(), [], false, [])
    }
}
