/// An error of inserting a revision into a tree, or of reading a tree.
public struct RevisionTreeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure; more may be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String { case unknownParent, generation, exists, invalidHistory, malformed, unknownFormat }
        private let kind: Kind

        /// The parent named for an edit is not in the tree.
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
