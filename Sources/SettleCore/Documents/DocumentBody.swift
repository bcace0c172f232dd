/// The members of a document, as the compact UTF-8 JSON that is stored.
///
/// A body is always a JSON object without CouchDB's reserved members: `_id`, `_rev` and so on belong to the
/// document, not to its body. The initializers check every byte, once. The order of members and the spelling of
/// numbers are kept; escapes and white space are normalized; of duplicate members the last one is kept.
///
///     let body: DocumentBody = ["name": "Milk", "count": 1]
///     let same = try DocumentBody(parsing: #"{ "name": "Milk", "count": 1 }"#)
///
/// A literal can't throw. A literal with a reserved member, or nested deeper than ``JSONLimits/depth``, makes a
/// body that keeps the error as its ``fault``, and every call that would store the body throws it.
public struct DocumentBody: Sendable {
    /// The known properties of the bytes, which are always a body.
    private enum Knowledge: Sendable {
        case nothing
        /// The body in Erlang's term format, from which the revision id is computed.
        case term([UInt8])
        /// The bytes are not a body.
        case fault(Fault)
    }

    /// An error in a box, because nearly all bodies have no error.
    private final class Fault: Sendable {
        let error: JSONError
        init(_ error: JSONError) { self.error = error }
    }

    /// The body as compact UTF-8 JSON; for a value that is nested too deeply, the empty object.
    public let utf8: [UInt8]
    private let knowledge: Knowledge

    init(utf8: [UInt8], term: [UInt8]) {
        self.utf8 = utf8
        knowledge = .term(term)
    }

    /// Makes a body from bytes that are known to be a valid body, such as those read from a store.
    package init(unchecked utf8: [UInt8]) {
        self.utf8 = utf8
        knowledge = .nothing
    }

    private init(_ value: JSONValue, fault: JSONError) {
        utf8 = fault.code == .tooDeep ? Self.empty.utf8 : value.utf8
        knowledge = .fault(Fault(fault))
    }

    /// The reason why the body can't be stored; `nil` for every body that an initializer has checked.
    ///
    /// Only a literal can make a body with a fault: if it contains a reserved member, or is nested too deeply.
    public var fault: JSONError? { if case .fault(let fault) = knowledge { fault.error } else { nil } }

    /// The body without members, like that of a plain deletion.
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
    /// - Throws: ``JSONError`` with code `notAnObject`, `reservedMember`, or `tooDeep`.
    public init(_ value: JSONValue) throws(JSONError) {
        try value.checkDepth()
        try self.init(utf8: value.utf8)
    }

    /// The body as a value with its members.
    ///
    /// - Complexity: O(*n*) in bytes, each time.
    public var json: JSONValue { (try? JSONValue(utf8: utf8)) ?? .object(JSONObject()) }

    /// One top-level member, found without building the other ones.
    ///
    /// - Complexity: O(*n*) in bytes up to the member.
    public subscript(name: String) -> JSONValue? { members(named: [name])[name] }

    /// The body in Erlang's term format.
    var term: [UInt8] {
        if case .term(let term) = knowledge { return term }
        let read = try? DocumentReader.read(utf8, allowsReserved: false).body.knowledge
        if case .term(let term) = read { return term }
        return Self.empty.term
    }
}

extension DocumentBody: Hashable, ExpressibleByDictionaryLiteral, CustomStringConvertible {
    /// Whether both are the same JSON, byte for byte.
    public static func == (left: DocumentBody, right: DocumentBody) -> Bool {
        left.utf8 == right.utf8 && left.fault == right.fault
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) { hasher.combine(utf8) }

    /// Makes a body from a literal; one that can't be stored has a ``fault``.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        let value = JSONValue.object(JSONObject(elements))
        do throws(JSONError) { self = try DocumentBody(value) } catch { self.init(value, fault: error) }
    }

    /// The body as compact JSON text.
    public var description: String { String(decoding: utf8, as: UTF8.self) }
}

// MARK: - DocumentReader

/// Reads a document's JSON once and returns everything that is needed to store it: the compact body, the body as an
/// Erlang term, and the reserved members.
package struct DocumentReader {
    /// A top-level member that starts with an underscore and is not part of the body.
    package struct ReservedMember: Sendable {
        /// The member's name, underscore included.
        package let name: String
        /// The value's bytes, as in the text.
        package let value: [UInt8]
        /// The offset of the value, in bytes.
        package let offset: Int
    }

    /// The members that make up the body.
    package let body: DocumentBody
    /// The reserved members, in order; only the last of those with the same name.
    package let reserved: [ReservedMember]

    /// Members that start with an underscore but are part of the body: those of the replicator and the one for access
    /// control.
    static let storedNames: Set<String> = [
        "_access", "_replication_state", "_replication_state_time", "_replication_state_reason", "_replication_id",
        "_replication_stats",
    ]

    /// Reads a document.
    ///
    /// - Parameters:
    ///   - bytes: JSON text in UTF-8.
    ///   - allowsReserved: Whether reserved members are collected; otherwise they are refused.
    /// - Returns: The document.
    /// - Throws: ``JSONError``: text that is not JSON, `notAnObject`, or `reservedMember`.
    package static func read(_ bytes: [UInt8], allowsReserved: Bool) throws(JSONError) -> DocumentReader {
        try bytes.withUnsafeBufferPointer { buffer -> Result<DocumentReader, JSONError> in
            do throws(JSONError) { return .success(try read(buffer, allowsReserved: allowsReserved)) } catch {
                return .failure(error)
            }
        }.get()
    }

    /// Reads a document; see ``read(_:allowsReserved:)-([UInt8],_)``.
    package static func read(
        _ text: UnsafeBufferPointer<UInt8>, allowsReserved: Bool
    ) throws(JSONError) -> DocumentReader {
        if let reader = try readUnlessDoubled(text, allowsReserved: allowsReserved, isUnique: false) { return reader }
        // Rare: parse into a value, which drops all but the last member of each name, and read its text. Names that
        // only share a fingerprint are found again, and are ignored this time.
        let unique = try JSONValue(utf8: text).utf8
        let second = unique.withUnsafeBufferPointer { buffer in
            Result { () throws(JSONError) in
                try readUnlessDoubled(buffer, allowsReserved: allowsReserved, isUnique: true)
            }
        }
        guard let reader = try second.get() else { throw JSONError(.syntax, "a text without duplicates has some") }
        return reader
    }

    /// Reads a document in one pass; `nil` when two members may have the same name.
    private static func readUnlessDoubled(
        _ text: UnsafeBufferPointer<UInt8>, allowsReserved: Bool, isUnique: Bool
    ) throws(JSONError) -> DocumentReader? {
        let sink = DocumentSink(text: text, allowsReserved: allowsReserved)
        defer { sink.deallocate() }
        var scanner = JSONScanner(text, into: sink)
        try scanner.scan()
        return scanner.sink.hasDuplicates && !isUnique ? nil : scanner.sink.result
    }
}
