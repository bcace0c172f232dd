import RevisionTree
import SettleDatabase
internal import SettlePlatform

/// Rows that a closure makes of the documents of a database, kept in order of their keys and always up to date.
///
///     let byYear = View<Int, String>("by year", version: 1) { book, emit in
///         if let year = book["year"]?.int { emit(year, book["title"]?.string ?? "") }
///     }
///     for row in try database.rows(of: byYear, in: .between(1900, 1999)) { print(row.key, row.value) }
///
/// The rows lie in a file of their own beside the database. Asking brings them up to date first, which takes as long as there
/// are changes since the last time: a document is mapped once, and again when it was changed. Design documents and deleted
/// documents are not mapped.
///
/// - Important: Rows are made anew when ``version`` is another one, and only then. So raise it whenever the closure would
///   emit something else for the same document.
///
/// A database answers by `rows(of:in:)`, `count(of:in:)` and `observe(_:in:)`.
///
/// ## Topics
/// ### Reducing
/// - ``ReducedView``
public struct View<Key: Codable & Sendable, Value: Codable & Sendable>: Sendable {
    /// Makes rows of a document: calls the second argument for each, with a key and a value.
    public typealias Map = @Sendable (_ document: MapInput, _ emit: (Key, Value) -> Void) throws -> Void

    /// The name, which no other view of the database has; up to 100 bytes.
    public let name: String
    /// Which version of the closure this is.
    public let version: Int
    let map: Map

    /// Makes a view.
    ///
    /// - Parameters:
    ///   - name: Its name, which no other view of the database has.
    ///   - version: Which version of the closure this is; raise it when the closure changes.
    ///   - map: Makes rows of a document. It must depend on nothing but the document, is called by several threads at the same
    ///     time, and when it throws, the document has no rows.
    public init(_ name: String, version: Int, map: @escaping Map) {
        self.name = name
        self.version = version
        self.map = map
    }

    /// The name of its index; `suffix` tells apart those that are reduced.
    func indexName(_ suffix: String = "") -> String { "app-\(Self.digits(name))-\(version)\(suffix)" }

    /// Whether an index is one of this view, but of another version.
    func isOutdated(_ index: String) -> Bool {
        index.hasPrefix("app-\(Self.digits(name))-") && index != indexName() && !index.hasPrefix(indexName("-"))
    }

    private static func digits(_ text: String) -> String {
        Hexadecimal.encode(text.utf8.prefix(100))
    }

    /// The index, with the reduce function it has, if any. Those of other versions are removed when it is first asked for.
    func index(of database: Database, reducer: (any ViewReducer)? = nil, suffix: String = "") throws -> ViewIndex {
        let folder = IndexFolder.of(database)
        let name = indexName(suffix)
        if folder.isNew(name) { folder.remove(where: isOutdated) }
        return try folder.index(name) { place in
            ViewIndex(at: place, definitions: [ViewDefinition(reducers: reducer.map { [$0] } ?? [])])
        }
    }

    /// What makes its rows.
    var mapper: ClosureMapper<Key, Value> { ClosureMapper(map: map) }
}
