/// The name of a document, unique in its database.
///
/// Any non-empty text is an id, except that a leading underscore is reserved, as in CouchDB: only `_design/…` and
/// `_local/…` ids may start with one.
///
///     let id: DocumentID = "groceries/milk"
///     try DocumentID(validating: "_secret")        // throws: reserved
///
/// Ids are ordered by their UTF-8 bytes, as in `_all_docs`; two spellings of the same accented letter are different
/// ids.
public struct DocumentID: Sendable {
    /// The id as text.
    public let string: String

    /// Makes an id from untrusted text.
    ///
    /// - Throws: ``InvalidIdentifier`` if the text is empty; if it starts with `_` but is neither a design
    ///   document's nor a local document's id; or if nothing follows that prefix.
    public init(validating string: String) throws(InvalidIdentifier) {
        if let problem = Self.problem(in: string) { throw InvalidIdentifier(text: string, problem: problem) }
        self.string = string
    }

    /// Makes an id from text; `nil` where ``init(validating:)`` throws.
    public init?(_ string: String) {
        guard Self.problem(in: string) == nil else { return nil }
        self.string = string
    }

    /// The problem with an id that was made from a literal; `nil` for a valid id.
    package var problem: InvalidIdentifier? {
        Self.problem(in: string).map { InvalidIdentifier(text: string, problem: $0) }
    }

    /// Makes an id from text that is known to be valid, such as an id read from a store.
    package init(unchecked string: String) { self.string = string }

    /// Whether this is the id of a design document, which holds functions and indexes and replicates.
    public var isDesign: Bool { isReserved && string.utf8.starts(with: "_design/".utf8) }

    /// Whether this is the id of a local document, which never replicates (SEMANTICS 203).
    public var isLocal: Bool { isReserved && string.utf8.starts(with: "_local/".utf8) }

    /// Whether it starts with an underscore, which few ids do.
    private var isReserved: Bool { string.utf8.first == UInt8(ascii: "_") }

    private static func problem(in string: String) -> String? {
        if string.isEmpty { return "a document id must not be empty" }
        guard string.utf8.first == UInt8(ascii: "_") else { return nil }
        if string == "_design/" || string == "_local/" { return "nothing follows the prefix" }
        if string.utf8.starts(with: "_design/".utf8) || string.utf8.starts(with: "_local/".utf8) { return nil }
        return "only _design/… and _local/… may start with an underscore"
    }
}

extension DocumentID: ExpressibleByStringLiteral {
    /// Makes an id from a literal in source code.
    ///
    /// It checks nothing, because a literal can't throw: a document with an invalid id can't be stored, and none is found.
    /// For untrusted text use ``init(validating:)``.
    public init(stringLiteral value: String) { self.string = value }
}

extension DocumentID: Hashable, Comparable, CustomStringConvertible {
    /// Whether both ids have the same UTF-8 bytes; canonical equivalence does not count.
    public static func == (left: DocumentID, right: DocumentID) -> Bool {
        left.string.hasSameBytes(as: right.string)
    }

    /// Orders ids by their UTF-8 bytes.
    public static func < (left: DocumentID, right: DocumentID) -> Bool {
        left.string.utf8.lexicographicallyPrecedes(right.string.utf8)
    }

    /// Hashes the UTF-8 bytes.
    public func hash(into hasher: inout Hasher) {
        var copy = string
        copy.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// The id as text.
    public var description: String { string }
}

extension DocumentID: Codable {
    /// Decodes the text of an id.
    ///
    /// - Throws: `DecodingError` for text that can't be an id.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        if let problem = Self.problem(in: text) {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: problem)
        }
        string = text
    }

    /// Encodes the text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(string)
    }
}

/// An error for text that is not a document id or not a revision id.
public struct InvalidIdentifier: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text that was refused.
    public let text: String
    /// The problem with it.
    public let problem: String

    /// The text and the problem in one line.
    public var description: String { "\"\(text.prefix(200))\": \(problem)" }
}
