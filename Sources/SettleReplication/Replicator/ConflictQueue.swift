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
    var isSweeping = false

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
        (waiting, isWaiting, isSweeping) = (Queue(), [], false)
    }
}
