import SettleCore
import SettleDatabase
internal import SettlePlatform

/// Rows that a closure emits for the documents of a database, sorted by key and always up to date.
///
///     let byYear = View<Int, String>("by year", version: 1) { book, emit in
///         if let year = book["year"]?.int { emit(year, book["title"]?.string ?? "") }
///     }
///     for row in try database.rows(of: byYear, in: .between(1900, 1999)) { print(row.key, row.value) }
///
/// The rows are stored in a separate file beside the database. A query updates them first, which takes time
/// proportional to the changes since the last one: a document is mapped once, and again after each change. Design
/// documents and deleted documents are not mapped.
///
/// - Important: Only a new ``version`` rebuilds the rows. So raise it whenever the closure would emit something else
///   for the same document.
///
/// A database queries it with `rows(of:in:)`, `count(of:in:)` and `observe(_:in:)`.
///
/// ## Topics
/// ### Reducing
/// - ``ReducedView``
public struct View<Key: Codable & Sendable, Value: Codable & Sendable>: Sendable {
    /// Emits the rows of a document: calls the second argument for each, with a key and a value.
    public typealias Map = @Sendable (_ document: MapInput, _ emit: (Key, Value) -> Void) throws -> Void

    /// The name, unique among the views of the database; up to 100 bytes.
    public let name: String
    /// The version of the closure.
    public let version: Int
    let map: Map

    /// Makes a view.
    ///
    /// - Parameters:
    ///   - name: Its name, unique among the views of the database.
    ///   - version: The version of the closure; raise it when the closure changes.
    ///   - map: Emits the rows of a document. It must depend on the document alone, and is called by several threads
    ///     at the same time. If it throws, the document has no rows.
    public init(_ name: String, version: Int, map: @escaping Map) {
        self.name = name
        self.version = version
        self.map = map
    }

    /// The name of its index; `suffix` distinguishes reduced ones.
    func indexName(_ suffix: String = "") -> String { "app-\(Self.digits(name))-\(version)\(suffix)" }

    /// Whether an index belongs to another version of this view.
    func isOutdated(_ index: String) -> Bool {
        index.hasPrefix("app-\(Self.digits(name))-") && index != indexName() && !index.hasPrefix(indexName("-"))
    }

    private static func digits(_ text: String) -> String {
        Hexadecimal.encode(text.utf8.prefix(100))
    }

    /// The index, with its reduce function, if any. Its first use removes those of other versions.
    func index(of database: Database, reducer: (any ViewReducer)? = nil, suffix: String = "") throws -> ViewIndex {
        let folder = IndexFolder.of(database)
        let name = indexName(suffix)
        if folder.isNew(name) { folder.remove(where: isOutdated) }
        return try folder.index(name) { place in
            ViewIndex(at: place, definitions: [ViewDefinition(reducers: reducer.map { [$0] } ?? [])])
        }
    }

    /// The mapper of its rows.
    var mapper: ClosureMapper<Key, Value> { ClosureMapper(map: map) }
}
