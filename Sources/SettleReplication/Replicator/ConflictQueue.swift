internal import RevisionTree
internal import SettleDatabase
internal import SettlePlatform

/// The documents whose conflicts are to be settled, each once, several at the same time.
struct ConflictQueue: Sendable {
    private var waiting = Queue<DocumentID>()
    private var isWaiting: Set<DocumentID> = []
    private var active: Set<DocumentID> = []
    private var reports: [DocumentID: DocumentReport] = [:]
    private let atOnce: Int
    /// Whether conflicts that were here before are still being looked for.
    var isSweeping = false

    init(atOnce: Int) { self.atOnce = max(1, atOnce) }

    /// How many wait or are being settled.
    var count: Int { waiting.count + active.count }

    /// Whether nothing is pending (SEMANTICS 39, 40).
    var isEmpty: Bool { count == 0 && !isSweeping }

    /// Whether a document is pending.
    func contains(_ id: DocumentID) -> Bool { isWaiting.contains(id) || active.contains(id) }

    /// Takes a document; one that is being settled comes again.
    mutating func add(_ id: DocumentID) {
        if isWaiting.insert(id).inserted { waiting.append(id) }
    }

    /// Keeps what is to be told of a document until it is settled.
    mutating func keep(_ report: DocumentReport) { reports[report.id] = report }

    /// The next document to settle, unless enough are being settled.
    mutating func next() -> DocumentID? {
        guard active.count < atOnce, let id = waiting.popFirst() else { return nil }
        // It changed while it is being settled; then it is looked at after that.
        guard !active.contains(id) else {
            waiting.append(id)
            return nil
        }
        isWaiting.remove(id)
        active.insert(id)
        return id
    }

    /// A document is settled or not; returns what is to be told of it, unless it is to be settled again.
    mutating func finish(_ id: DocumentID) -> (report: DocumentReport?, isLast: Bool) {
        active.remove(id)
        return (reports.removeValue(forKey: id), !isWaiting.contains(id))
    }

    /// Forgets all that wait.
    mutating func clear() {
        (waiting, isWaiting, isSweeping) = (Queue(), [], false)
    }
}
