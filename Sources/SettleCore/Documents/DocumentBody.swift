/// The members of a document, as the compact UTF-8 JSON that is stored.
///
/// A body is always a JSON object without CouchDB's reserved members: `_id`, `_rev` and their like belong to the
/// document, not to its body. The initializers check every byte, once. The order of members and the spelling of
/// numbers are kept, escapes and white space are normalized, and of duplicate members the last one is kept.
///
///     let body: DocumentBody = ["name": "Milk", "count": 1]
///     let same = try DocumentBody(parsing: #"{ "name": "Milk", "count": 1 }"#)
public struct DocumentBody: Sendable {
    /// The body as compact UTF-8 JSON.
    public let utf8: [UInt8]
    /// The body in Erlang's term format if it is at hand, which a revision id is made of.
    private let knownTerm: [UInt8]?

    init(utf8: [UInt8], term: [UInt8]) {
        self.utf8 = utf8
        knownTerm = term
    }

    /// Makes a body of bytes that are known to be a valid body, such as those read from a store.
    package init(unchecked utf8: [UInt8]) {
        self.utf8 = utf8
        knownTerm = nil
    }

    /// The body without members, as a plain deletion has it.
    public static let empty = DocumentBody(
        utf8: Array("{}".utf8), term: [ExternalTerm.smallTuple, 1, ExternalTerm.emptyList])

    /// Reads a body from JSON text in UTF-8.
    ///
    /// - Throws: ``JSONError`` with line and column: text that is not JSON, `notAnObject`, or `reservedMember` for a
    ///   top-level member that starts with an underscore (SEMANTICS 89).
    /// - Complexity: O(*n*) in bytes, one pass.
    public init(utf8 bytes: UnsafeBufferPointer<UInt8>) throws(JSONError) {
        self = try DocumentReader.read(bytes, allowsReserved: false).body
    }

    /// Reads a body from JSON text in UTF-8; see ``init(utf8:)-(UnsafeBufferPointer<UInt8>)``.
    public init(utf8 bytes: [UInt8]) throws(JSONError) {
        self = try DocumentReader.read(bytes, allowsReserved: false).body
    }

    /// Reads a body from JSON text.
    ///
    /// - Throws: ``JSONError`` with line and column.
    public init(parsing text: String) throws(JSONError) { try self.init(utf8: Array(text.utf8)) }

    /// Makes a body from a value.
    ///
    /// - Throws: ``JSONError`` with code `notAnObject` or `reservedMember`.
    public init(_ value: JSONValue) throws(JSONError) { try self.init(utf8: value.utf8) }

    /// The body as a value with its members.
    ///
    /// - Complexity: O(*n*) in bytes, each time.
    public var json: JSONValue { (try? JSONValue(utf8: utf8)) ?? .object(JSONObject()) }

    /// One top-level member, parsed without the others.
    ///
    /// - Complexity: O(*n*) in bytes up to the member.
    public subscript(name: String) -> JSONValue? { members(named: [name])[name] }

    /// The body in Erlang's term format.
    var term: [UInt8] {
        if let knownTerm { return knownTerm }
        return (try? DocumentReader.read(utf8, allowsReserved: false).body.knownTerm) ?? Self.empty.term
    }
}

extension DocumentBody: Hashable, ExpressibleByDictionaryLiteral, CustomStringConvertible {
    /// Whether both are the same JSON, byte for byte.
    public static func == (left: DocumentBody, right: DocumentBody) -> Bool { left.utf8 == right.utf8 }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) { hasher.combine(utf8) }

    /// Makes a body from a literal in source code.
    ///
    /// - Precondition: No name starts with an underscore.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        let body = try? DocumentBody(JSONValue.object(JSONObject(elements)))
        precondition(body != nil, "a body has no members that start with an underscore")
        self = body ?? .empty
    }

    /// The body as compact JSON text.
    public var description: String { String(decoding: utf8, as: UTF8.self) }
}
