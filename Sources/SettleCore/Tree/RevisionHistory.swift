/// The path from a revision back towards its root, newest first: CouchDB's `_revisions`.
///
///     {"start": 3, "ids": ["c", "b", "a"]}      3-c ← 2-b ← 1-a
///
/// A history may end before generation 1, if the source has stemmed it.
public struct RevisionHistory: Hashable, Sendable {
    /// The generation of the newest revision.
    public let start: UInt64
    /// The signatures, newest first; never empty.
    public let signatures: [RevisionSignature]

    /// Makes a history from a start generation and signatures, newest first.
    ///
    /// - Throws: ``RevisionTreeError`` with code `invalidHistory` if there is no signature, or if there are more
    ///   signatures than generations.
    public init(start: UInt64, signatures: [RevisionSignature]) throws(RevisionTreeError) {
        guard !signatures.isEmpty, start <= RevisionID.maximumGeneration, UInt64(signatures.count) <= start else {
            throw RevisionTreeError(
                .invalidHistory,
                "a history that starts at generation \(start) can't have \(signatures.count) revisions")
        }
        self.start = start
        self.signatures = signatures
    }

    init(unchecked start: UInt64, _ signatures: [RevisionSignature]) {
        self.start = start
        self.signatures = signatures
    }

    /// Creates a history from revisions, newest first; `nil` if the list is empty, or if a generation is not one
    /// below the previous one, or is past the highest one.
    package init?(_ revisions: [RevisionID]) {
        guard let first = revisions.first, first.generation <= RevisionID.maximumGeneration,
            zip(revisions, revisions.dropFirst()).allSatisfy({ $0.generation == $1.generation + 1 })
        else { return nil }
        self.init(unchecked: first.generation, revisions.map(\.signature))
    }

    /// The history of a revision whose ancestors are unknown.
    public init(_ revision: RevisionID) {
        self.init(unchecked: revision.generation, [revision.signature])
    }

    /// The newest revision, to which the history belongs.
    public var revision: RevisionID { RevisionID(unchecked: start, signatures[0]) }

    /// The revisions, newest first.
    public var revisions: [RevisionID] { signatures.indices.map(revision(at:)) }

    /// The revision that is a number of steps before the newest one.
    func revision(at index: Int) -> RevisionID { RevisionID(unchecked: start - UInt64(index), signatures[index]) }
}

/// An error of inserting a revision into a tree, or of reading a tree.
public struct RevisionTreeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure; more may be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String { case unknownParent, generation, exists, invalidHistory, malformed, unknownFormat }
        private let kind: Kind

        /// The edit's parent is not in the tree.
        public static let unknownParent = Code(kind: .unknownParent)
        /// The edit's generation is not one above its parent's.
        public static let generation = Code(kind: .generation)
        /// The tree already has this revision.
        public static let exists = Code(kind: .exists)
        /// A history is empty, or longer than its start allows.
        public static let invalidHistory = Code(kind: .invalidHistory)
        /// Packed bytes are not a valid tree.
        public static let malformed = Code(kind: .malformed)
        /// Packed bytes have a format that this version does not support.
        public static let unknownFormat = Code(kind: .unknownFormat)

        /// The code's name.
        public var description: String { kind.rawValue }
    }

    /// The kind of failure.
    public let code: Code
    /// A description that names the revision.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The code and the message.
    public var description: String { "\(code): \(message)" }
}
