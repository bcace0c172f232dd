internal import SettleCore
internal import SettleDatabase

/// Emits the rows of an index: for each document that has all fields, one whose key is the array of their values.
///
/// Several threads map pages of documents at the same time.
struct IndexMapper: ViewMapper {
    private let columns: [SelectorPath]
    private let filter: MangoSelector?
    private let needed: NeededMembers

    private let view: Int

    init(_ index: QueryIndex) { self.init(index.columns, filter: index.partialFilter, view: 0) }

    init(_ columns: [String], filter: MangoSelector?, view: Int) {
        self.columns = columns.map { SelectorPath($0) }
        self.filter = filter
        self.view = view
        needed = NeededMembers(columns + (filter?.fields ?? []))
    }

    func start(_ documents: [DocumentRecord]) -> any ViewMapping { PageMapping(documents, emissions) }

    private static let null = Array("null".utf8)

    /// The row of a document, if it has one.
    func emissions(of record: DocumentRecord) -> [Emission] {
        guard let document = needed.json(of: record, hasConflicts: true), filter?.matches(document) ?? true else {
            return []
        }
        var key: [UInt8] = [UInt8(ascii: "[")]
        for (index, column) in columns.enumerated() {
            guard case .value(let value) = column.destination(in: document) else { return [] }
            if index > 0 { key.append(UInt8(ascii: ",")) }
            value.append(to: &key)
        }
        key.append(UInt8(ascii: "]"))
        return [Emission(view: view, key: key, value: Self.null)]
    }
}
