public import SettleCore
public import SettleDatabase
internal import SettlePlatform

/// Rows that a closure emits for the documents of a database, sorted by key and always up to date.
///
///     let byYear = MapIndex<Int, String>("by year", version: 1) { book, emit in
///         if let year = book["year"]?.int { emit(year, book["title"]?.string ?? "") }
///     }
///     for row in try database.rows(of: byYear, in: .between(1900, 1999)) { print(row.key, row.value) }
///
/// The rows are stored in a separate file beside the database. A query updates them first, which takes time
/// proportional to the changes since the last one: a document is mapped once, and again after each change. Design
/// documents and deleted documents are not mapped.
///
/// - Important: Only a new ``version`` rebuilds the rows. So increase it whenever the closure would emit different
///   rows for the same document.
///
/// A database queries it with `rows(of:in:)`, `count(of:in:)` and `observe(_:in:)`.
///
/// ## Topics
/// ### Reducing
/// - ``MapReduceIndex``
public struct MapIndex<Key: Codable & Sendable, Value: Codable & Sendable>: Sendable {
    /// Emits the rows of a document: calls the second argument for each, with a key and a value.
    public typealias Map = @Sendable (_ document: MapInput, _ emit: (Key, Value) -> Void) throws -> Void

    /// The name, unique among the views of the database; up to 100 bytes.
    public let name: String
    /// The version of the closure.
    public let version: Int
    let map: Map

    /// Creates a view.
    ///
    /// - Parameters:
    ///   - name: Its name, unique among the views of the database.
    ///   - version: The version of the closure; increase it when the closure changes.
    ///   - map: Emits the rows of a document. It must depend only on the document, and is called by several threads
    ///     at the same time. If it throws, the document has no rows.
    public init(_ name: String, version: Int, map: @escaping Map) {
        self.name = name
        self.version = version
        self.map = map
    }

    /// The name of its index. `suffix` distinguishes the indexes of reductions.
    func indexName(_ suffix: String = "") -> String { "app-\(Self.digits(name))-\(version)\(suffix)" }

    /// Whether an index belongs to another version of this view.
    func isOutdated(_ index: String) -> Bool {
        index.hasPrefix("app-\(Self.digits(name))-") && index != indexName() && !index.hasPrefix(indexName("-"))
    }

    private static func digits(_ text: String) -> String {
        Hexadecimal.encode(text.utf8.prefix(100))
    }

    /// The index, with its reduction, if any. Its first use removes the indexes of other versions of both.
    func index<Result>(of database: Database, _ reduction: Reduction<Value, Result>) throws -> ViewIndex {
        let versions = reduction.family.map { indexName("-" + $0) }
        return try index(indexName("-" + reduction.name), [reduction.reducer], of: database) { name in
            versions.map { name.hasPrefix($0) } ?? false
        }
    }

    /// The index without a reduction.
    func index(of database: Database) throws -> ViewIndex { try index(indexName(), [], of: database) { _ in false } }

    private func index(
        _ name: String, _ reducers: [any ViewReducer], of database: Database, isOtherVersion: (String) -> Bool
    ) throws -> ViewIndex {
        let folder = IndexFolder.of(database)
        if folder.isNew(name) { folder.remove { isOutdated($0) || ($0 != name && isOtherVersion($0)) } }
        return try folder.index(name) { place in
            ViewIndex(at: place, definitions: [ViewDefinition(reducers: reducers)])
        }
    }

    /// The mapper of its rows.
    var mapper: ClosureMapper<Key, Value> { ClosureMapper(map: map) }
}

/// Maps documents by closures; several threads map pages of documents at the same time.
struct ClosureMapper<Key: Codable & Sendable, Value: Codable & Sendable>: ViewMapper {
    let map: MapIndex<Key, Value>.Map

    func start(_ documents: [DocumentRecord]) -> any ViewMapping {
        PageMapping(documents) { [map] in Self.emissions(of: $0, map) }
    }

    private static func emissions(of record: DocumentRecord, _ map: MapIndex<Key, Value>.Map) -> [Emission] {
        guard let input = MapInput(record) else { return [] }
        var emissions: [Emission] = []
        do {
            try map(input) { key, value in
                // A value that JSON can't represent, such as infinity, has no row.
                guard let key = ViewCoding.encode(key), let value = ViewCoding.encode(value) else { return }
                emissions.append(Emission(view: 0, key: key, value: value))
            }
        } catch { return [] }
        return emissions
    }
}

/// The input of a map function: the winner of a document, and its conflicts.
public struct MapInput: Sendable {
    /// The document, with its attachments; never a deleted document.
    public let document: Document
    /// The live leaves except for the winner, in CouchDB's order (SEMANTICS 142).
    public let conflicts: [RevisionID]
    /// The position of the document's last change in this database.
    public let sequence: UpdateSequence

    /// The document's id.
    public var id: DocumentID { document.id }

    /// A top-level member; `nil` if it is missing.
    public subscript(name: String) -> JSONValue? { document[name] }

    init?(_ record: DocumentRecord) {
        guard let winner = record.tree.winner, let content = record.content else { return nil }
        document = Document(id: record.id, revision: winner.revision, isDeleted: winner.isDeleted, content)
        conflicts = record.tree.leaves.count > 1 ? record.tree.conflicts : []
        sequence = record.sequence
    }
}

// MARK: - MapIndexRow

/// A row of a view.
public struct MapIndexRow<Key: Codable & Sendable, Value: Codable & Sendable>: Sendable {
    /// The id of the document that emitted it.
    public let id: DocumentID
    /// The key.
    public let key: Key
    /// The value.
    public let value: Value

    init(_ row: IndexRow) throws {
        id = DocumentID(unchecked: String(decoding: row.id, as: UTF8.self))
        key = try ViewCoding.decode(Key.self, row.key)
        value = try ViewCoding.decode(Value.self, row.value)
    }

    /// Reads the current document; `nil` when it was deleted meanwhile.
    ///
    /// - Throws: ``DatabaseError`` when the database can't be read.
    public func document(in database: Database) throws -> Document? { try database.document(id) }
}

extension MapIndexRow: Equatable where Key: Equatable, Value: Equatable {}

/// Converts keys and values of views to JSON text and back.
enum ViewCoding {
    /// Encodes a value; `nil` for one that JSON can't represent.
    static func encode(_ value: some Encodable) -> [UInt8]? {
        switch value {
        case let value as JSONValue: return value.utf8
        case let value as Int: return Array(String(value).utf8)
        case let value as String:
            var bytes: [UInt8] = []
            JSONValue.append(value, to: &bytes)
            return bytes
        default: return (try? JSONValue(encoding: value))?.utf8
        }
    }

    /// Decodes a value.
    ///
    /// - Throws: `DecodingError` for a value of another type, or ``JSONError``.
    static func decode<Value: Decodable>(_ type: Value.Type, _ text: some Collection<UInt8>) throws -> Value {
        if type == Int.self, let number = Int(String(decoding: text, as: UTF8.self)) as? Value { return number }
        let json = try JSONValue(utf8: Array(text))
        return try json as? Value ?? json.decode(type)
    }
}

// MARK: - MapIndexError

/// An error of building or querying a view, in CouchDB's wording.
public struct MapIndexError: SettleError, Hashable, Sendable {
    /// CouchDB's name of the error.
    public let name: String
    /// The description.
    public let reason: String

    /// Creates an error.
    public init(_ name: String, _ reason: String) {
        self.name = name
        self.reason = reason
    }

    /// The name and the reason.
    public var description: String { "\(name): \(reason)" }
}
