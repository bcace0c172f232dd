internal import Settle

/// Writes a list of indexes.
struct IndexTable {
    private let console: Console

    init(_ console: Console) { self.console = console }

    /// Writes them: lines of JSON, or columns, of which those that nothing is known for are left out.
    func write(_ indexes: [NamedIndex]) throws {
        if console.isJSON {
            for index in indexes { try console.print(index.json.description) }
            return
        }
        let columns: [(title: String, cell: (NamedIndex) -> String?)] = [
            ("NAME", { $0.name }), ("DESIGN", { $0.designDocument.map(ViewName.designName) }), ("TYPE", { $0.type }),
            ("MEMBERS", { $0.order }), ("ONLY WITH", { $0.filter?.description }),
            ("ROWS", { $0.rows.map { Quantity.grouped($0) } }), ("SIZE", { $0.size.map { Quantity.bytes(Int64($0)) } }),
            ("UP TO DATE", { $0.pending.map { $0 == 0 ? "yes" : "\(Quantity.of($0, "change")) behind" } }),
        ]
        let shown = columns.filter { column in indexes.contains { column.cell($0) != nil } }
        var table = RowTable(console, titles: shown.map(\.title))
        for index in indexes { try table.add(shown.map { $0.cell(index) ?? "" }) }
        try table.finish()
        if indexes.isEmpty { try console.note("No index") }
    }
}
