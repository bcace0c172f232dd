internal import SettleCore
internal import SettleDatabase

/// Revisions that came with a page of changes, until they are asked for.
///
/// A first replication of many short documents would name each revision three times: in the changes, in the request for it, and in its
/// answer. With `include_docs` it comes once, and needs no round trip of its own. That is possible for a document with one revision,
/// whose history is known, and no attachments:
///
///     _changes ──→ rows ──→ the flow compares them with the target
///        └──→ documents ──→ here ──→ ``CouchDBPeer/revisions(_:budget:)`` dequeues what is asked for, and fetches the rest
///
/// Memory is bounded: a page ends after ``Pace/bytes``, and the oldest pages are dropped while more than 4 MiB wait in all, except for the two
/// newest. A document that was dropped is fetched like any other. Pages of a near server are short: another request costs little
/// there, and the flow compares and stores the first documents while the next are read, so fewer are in memory.
struct CarriedRevisions: Sendable {
    /// How much one request for changes asks for.
    struct Pace: Sendable {
        /// The number of rows.
        let rows: Int
        /// The number of bytes of rows after which the rest is not read.
        let bytes: Int
    }

    /// What came with a page.
    struct Page: Sendable {
        /// The number of bytes of its rows.
        private(set) var bytes = 0
        private(set) var rows = 0
        /// Whether a row was too long to be read.
        var hasLong = false
        /// The time from the request to the beginning of its answer.
        var delay = Duration.zero
        fileprivate var revisions: [DocumentID: PeerRevision] = [:]
        /// About the number of bytes of the rows that were not asked for.
        fileprivate var waitingBytes: Int { rows == 0 ? 0 : bytes / rows * revisions.count }

        /// Adds a row, with its document if that can be used.
        mutating func add(_ row: ParsedChange, _ text: UnsafeBufferPointer<UInt8>) {
            bytes += text.count
            rows += 1
            guard let change = row.change, change.leaves.count == 1, let leaf = change.leaves.first,
                leaf.generation == 1,
                !change.isDeleted, let place = row.document,
                // An answer that can't be read says so when the revision is asked for.
                let revision = try? PeerRevision(answer: UnsafeBufferPointer(rebasing: text[place])),
                revision.id == change.id, revision.revision == leaf, revision.attachments.isEmpty, !revision.isDeleted
            else { return }
            revisions[change.id] = revision
        }
    }

    /// Whether the server takes `include_docs` as CouchDB does.
    var isPossible = false
    /// The pages with documents that were not asked for, the oldest first.
    private var pages: [Page] = []
    /// The average size of a row in bytes; `nil` before the first page.
    private var rowBytes: Int?
    private var isNear = false
    /// The rows of the first page, which tells how long the documents are.
    private static let firstRows = 100
    private static let pageBytes = 2 << 20
    private static let nearPageBytes = 512 << 10
    /// The bytes that may wait in all pages.
    private static let waitingBytes = 4 << 20
    /// The longest delay of a near server.
    private static let nearDelay = Duration.milliseconds(25)
    /// Documents above this average gain nothing.
    private static let longestAverage = 4 << 10

    /// How much to ask for.
    ///
    /// - Parameter limit: The number of changes without contents.
    /// - Returns: The pace; `nil` if the changes should come without contents.
    func pace(of limit: Int) -> Pace? {
        guard isPossible else { return nil }
        guard let rowBytes else { return Pace(rows: min(limit, Self.firstRows), bytes: Self.pageBytes) }
        guard rowBytes <= Self.longestAverage else { return nil }
        let bytes = isNear ? Self.nearPageBytes : Self.pageBytes
        // Some rows more than usually fit, since an answer that is not read to its end costs its connection.
        return Pace(rows: max(1, min(limit * 8, bytes / rowBytes)), bytes: bytes / 2 * 3)
    }

    /// Keeps what came with a page. If few of its documents can be used, the next pages come without them.
    mutating func add(_ page: Page) {
        guard page.rows > 0 || page.hasLong else { return }
        let isUseful = !page.hasLong && page.revisions.count * 2 >= page.rows
        rowBytes = isUseful ? page.bytes / page.rows : .max
        isNear = page.delay < Self.nearDelay
        pages.append(page)
        while pages.count > 2, pages.reduce(0, { $0 + $1.waitingBytes }) > Self.waitingBytes { pages.removeFirst() }
    }

    /// Removes the revisions that are asked for first, up to one that is not here.
    ///
    /// - Parameters:
    ///   - requests: The revisions.
    ///   - budget: The maximum number of bytes of bodies; the first one may be longer.
    /// - Returns: Their contents, in order.
    mutating func dequeue(_ requests: [RevisionRequest], budget: Int) -> [PeerRevision] {
        var (found, rest) = ([PeerRevision](), budget)
        for request in requests {
            guard rest > 0 || found.isEmpty, let revision = revision(request)
            else { break }
            for index in pages.indices { pages[index].revisions[request.id] = nil }
            rest -= revision.bytesInMemory
            found.append(revision.requested(by: request))
        }
        pages.removeAll(where: \.revisions.isEmpty)
        return found
    }

    /// Whether a revision is here.
    func has(_ request: RevisionRequest) -> Bool { revision(request) != nil }

    private func revision(_ request: RevisionRequest) -> PeerRevision? {
        for page in pages {
            if let revision = page.revisions[request.id], revision.revision == request.revision { return revision }
        }
        return nil
    }
}
