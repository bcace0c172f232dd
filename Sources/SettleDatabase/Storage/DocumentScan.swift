public import SettleCore
internal import SettlePlatform

/// Which documents are read or counted, and in which order.
///
/// An engine answers each with an index. ``StorageReader/count(_:)`` is the only way to a number of documents.
public enum DocumentScan: Sendable {
    /// All documents of a range, deleted ones included, in the order of their ids' bytes.
    case documents(DocumentRange)
    /// Documents of a range that have a live leaf, in the order of their ids' bytes.
    case live(DocumentRange)
    /// Documents of a range whose leaves are all tombstones, in the order of their ids' bytes.
    case deleted(DocumentRange)
    /// Documents of a range in a conflict of one kind, in the order of their ids' bytes.
    case conflicted(ConflictKind, DocumentRange)
    /// Documents in the order of their last changes.
    case changes(SequenceRange)
}

/// A part of the documents by their ids, compared byte by byte.
public struct DocumentRange: Sendable {
    /// The lowest id, itself included, or `nil` for no bound.
    public var from: DocumentID?
    /// The range begins after this id, or `nil` for no bound. If `from` is set too, the higher bound counts.
    public var after: DocumentID?
    /// The highest id, itself included, or `nil` for no bound.
    public var through: DocumentID?
    /// The range ends before this id, or `nil` for no bound. If `through` is set too, the lower bound counts.
    public var before: DocumentID?
    /// Whether the highest comes first.
    public var descending: Bool

    /// Makes a range.
    public init(
        from: DocumentID? = nil, after: DocumentID? = nil, through: DocumentID? = nil, before: DocumentID? = nil,
        descending: Bool = false
    ) {
        self.from = from
        self.after = after
        self.through = through
        self.before = before
        self.descending = descending
    }
}

/// A part of the order of changes.
public struct SequenceRange: Sendable {
    /// Changes after this one…
    public var after: UpdateSequence
    /// …up to this one.
    public var through: UpdateSequence
    /// Whether the newest comes first.
    public var descending: Bool

    /// Makes a range.
    public init(after: UpdateSequence = 0, through: UpdateSequence = UpdateSequence(.max), descending: Bool = false) {
        self.after = after
        self.through = through
        self.descending = descending
    }
}

/// The numbers of documents of a database.
public struct DocumentCounts: Hashable, Sendable {
    /// Documents with a live leaf: CouchDB's `doc_count`.
    public var live: Int
    /// Documents whose leaves are all tombstones: CouchDB's `doc_del_count`.
    public var deleted: Int

    /// Makes counts.
    public init(live: Int = 0, deleted: Int = 0) {
        self.live = live
        self.deleted = deleted
    }
}

extension StorageReader {
    /// Documents in the order of their last changes; see ``records(_:limit:withContent:)``.
    public func records(changedIn range: SequenceRange, limit: Int, withContent: Bool) throws -> [DocumentRecord] {
        try records(.changes(range), limit: limit, withContent: withContent)
    }

    /// Documents in the order of their ids' bytes, deleted ones included; see ``records(_:limit:withContent:)``.
    public func records(in range: DocumentRange, limit: Int, withContent: Bool) throws -> [DocumentRecord] {
        try records(.documents(range), limit: limit, withContent: withContent)
    }

    /// The ids of the first documents of a scan; see ``ids(_:skipping:limit:)``.
    public func ids(_ scan: DocumentScan, limit: Int) throws -> [DocumentID] {
        try ids(scan, skipping: 0, limit: limit)
    }

    /// The id of a live document by its place among those of a range, in the range's order and from 0; `nil` past the last.
    public func liveID(at place: Int, in range: DocumentRange) throws -> DocumentID? {
        place < 0 ? nil : try ids(.live(range), skipping: place, limit: 1).first
    }

    /// How many documents a range has.
    public func counts(in range: DocumentRange = DocumentRange()) throws -> DocumentCounts {
        DocumentCounts(live: try count(.live(range)), deleted: try count(.deleted(range)))
    }
}

// MARK: - Skipping

/// A reader that lists ids from the first one on, and finds a live document by its place. Skipping follows from both.
package protocol SkippingReader: StorageReader {
    /// The ids of the first documents of a scan.
    func page(of scan: DocumentScan, limit: Int) throws -> [DocumentID]

    /// The id of a live document by its place in a range, from 0; `nil` past the last.
    ///
    /// - Complexity: O(log *n*) in the documents of the database.
    func live(at place: Int, in range: DocumentRange) throws -> DocumentID?
}

extension SkippingReader {
    package func ids(_ scan: DocumentScan, skipping skipped: Int, limit: Int) throws -> [DocumentID] {
        guard skipped > 0 else { return try page(of: scan, limit: limit) }
        guard case .live(let range) = scan else {
            return Array(try page(of: scan, limit: limit.adding(clamped: skipped)).dropFirst(skipped))
        }
        guard let first = try live(at: skipped, in: range) else { return [] }
        return limit == 1 ? [first] : try page(of: .live(range.beginning(with: first)), limit: limit)
    }
}

// MARK: - ScanPart

/// The part of the documents that a scan is about: those of a kind in a range of ids, or those of a range of changes.
package enum ScanPart {
    case documents(DocumentRange, DocumentKind)
    case changes(SequenceRange)
}

extension DocumentScan {
    /// The part that the scan is about.
    package var part: ScanPart {
        switch self {
        case .documents(let range): .documents(range, .any)
        case .live(let range): .documents(range, .live)
        case .deleted(let range): .documents(range, .flagged(.deleted))
        case .conflicted(let kind, let range): .documents(range, .flagged(RecordFlags(kind)))
        case .changes(let range): .changes(range)
        }
    }
}

/// Which documents are counted or read.
package enum DocumentKind {
    case any
    /// Those that have a live leaf.
    case live
    case flagged(RecordFlags)
}

extension DocumentRange {
    /// The part of the range that begins, in its order, with one of its ids.
    func beginning(with id: DocumentID) -> DocumentRange {
        var range = self
        if descending { range.through = id } else { range.from = id }
        return range
    }

    /// Bytes that sort after every id: UTF-8 never contains this one.
    package static let end: [UInt8] = [0xFF]

    /// The bytes from which ids are in the range.
    package var low: [UInt8] {
        let past = after.map { Array("\($0)\0".utf8) } ?? []
        let first = from.map { Array($0.string.utf8) } ?? []
        return first.precedes(past) ? past : first
    }

    /// The bytes from which ids are past the range.
    package var high: [UInt8] {
        let past = through.map { Array("\($0)\0".utf8) } ?? Self.end
        let end = before.map { Array($0.string.utf8) } ?? Self.end
        return past.precedes(end) ? past : end
    }
}

extension [UInt8] {
    /// Whether these bytes come before others, in the order of unsigned bytes.
    package func precedes(_ other: [UInt8]) -> Bool { withUnsafeBytes { $0.precedes(other) } }
}

extension UnsafeRawBufferPointer {
    func precedes(_ other: [UInt8]) -> Bool {
        guard let baseAddress else { return !other.isEmpty }
        let order = memcmp(baseAddress, other, Swift.min(count, other.count))
        return order == 0 ? count < other.count : order < 0
    }
}

// MARK: - RecordFlags

/// The kinds of documents that an engine's index distinguishes. Each document is of one kind.
package enum RecordFlags: Int64, Sendable {
    /// There is one live leaf.
    case plain = 0
    /// All leaves are tombstones.
    case deleted = 1
    /// There are two or more live leaves.
    case conflicted = 2
    /// There is one live leaf, and a user's deletion stands against it.
    case contested = 3

    package init(_ tree: RevisionTree) {
        if tree.isDeleted {
            self = .deleted
        } else if tree.count < 2 {
            self = .plain
        } else {
            self = tree.isConflicted ? .conflicted : tree.isContested ? .contested : .plain
        }
    }

    package init(_ kind: ConflictKind) {
        switch kind {
        case .branches: self = .conflicted
        case .deletion: self = .contested
        }
    }
}

// MARK: - Clamped

extension FixedWidthInteger {
    /// The sum, or the number nearest to it that there is: for numbers that somebody else says.
    package func adding(clamped other: Self) -> Self {
        let (sum, overflows) = addingReportingOverflow(other)
        guard overflows else { return sum }
        return other < 0 ? .min : .max
    }
}

// MARK: - PageSize

/// The number of documents that are read at once: many small ones or few large ones, so that pages take about the same memory.
package struct PageSize: Sendable {
    /// The number of documents of the next page.
    package private(set) var count: Int
    private let maximumCount: Int
    private static let bytes = 1 << 20
    /// The bytes of contents at which a reader ends a page, since documents may be much larger than those before them.
    package static let maximumBytes = 4 << 20

    /// Starts with few documents, whose size is unknown.
    ///
    /// - Parameters:
    ///   - hasContents: Whether documents are read with their contents. Without them, none is large.
    ///   - maximumCount: The most documents of a page.
    package init(hasContents: Bool = true, maximumCount: Int = 256) {
        self.maximumCount = maximumCount
        count = hasContents ? min(16, maximumCount) : maximumCount
    }

    /// Adapts to the size of a page's documents.
    package mutating func learn(count read: Int, bytes: Int) {
        guard read > 0 else { return }
        let fitting = max(Self.bytes / max(bytes / read, 1), 1)
        // It grows slowly, because the next documents may be larger.
        count = min(fitting, count * 4, maximumCount)
    }

    /// Adapts to the size of a page's documents.
    package mutating func learn(_ page: [DocumentRecord]) {
        learn(count: page.count, bytes: page.contentLength + page.reduce(0) { $0 + $1.tree.count * 64 })
    }
}

extension DocumentRecord {
    /// The bytes of the content if it was read.
    package var contentLength: Int { content?.body.utf8.count ?? 0 }
}

extension [DocumentRecord] {
    /// The bytes of the contents that were read.
    package var contentLength: Int { reduce(0) { $0 + $1.contentLength } }

    /// Whether a page has all that was left: it ended neither at its limit nor because of its size.
    package func isLast(of limit: Int) -> Bool { count < limit && contentLength < PageSize.maximumBytes }
}
