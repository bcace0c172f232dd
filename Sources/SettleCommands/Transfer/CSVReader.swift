internal import Settle

/// Reads documents of CSV (RFC 4180): the first row names the members, each further one is a document.
///
/// A row becomes the text of its document in JSON. Rows are read one by one, in bounded memory; a malformed row affects only
/// itself, and is reported with its line.
final class CSVReader: RecordSource {
    private var rows: CSVRows
    private let takesTypes: Bool
    private var columns: [CSVColumn]?

    /// - Parameters:
    ///   - takesTypes: Whether numbers, `true`, `false` and JSON lists and objects are recognized; else all cells are texts.
    ///   - next: The source, which returns pieces of bytes, and an empty one at the end.
    init(takesTypes: Bool, _ next: @escaping () throws -> [UInt8]) {
        self.takesTypes = takesTypes
        rows = CSVRows(next)
    }

    /// The next document; `nil` at the end.
    ///
    /// - Throws: ``CommandError`` with status `refused` for a header that is not one.
    func read() throws -> RecordReader.Record? {
        let columns = try columns ?? header()
        guard let row = try rows.next() else { return nil }
        if let problem = row.problem { return failed(row.line, problem) }
        guard row.cells.count == columns.count else {
            return failed(
                row.line,
                "\(Quantity.of(row.cells.count, "cell")), but the header names \(Quantity.of(columns.count, "column"))"
            )
        }
        var document = JSONObject()
        for (column, cell) in zip(columns, row.cells) where !cell.text.isEmpty || cell.isQuoted {
            guard column.put(cell.text, takesTypes: takesTypes, into: &document) else {
                return failed(row.line, "the column \"\(column.name)\" lies in a member that is no object")
            }
        }
        return RecordReader.Record(bytes: JSONValue.object(document).utf8, line: row.line, column: 1)
    }

    private func header() throws -> [CSVColumn] {
        guard let row = try rows.next() else {
            columns = []
            return []
        }
        func failure(_ problem: String) -> CommandError {
            .invalid("line \(row.line): \(problem); the first row must name the columns")
        }
        if let problem = row.problem { throw failure(problem) }
        var names: Set<String> = []
        let made = try row.cells.map { cell in
            if cell.text.isEmpty { throw failure("a column has no name") }
            guard names.insert(cell.text).inserted else { throw failure("two columns are named \"\(cell.text)\"") }
            return CSVColumn(cell.text)
        }
        columns = made
        return made
    }

    private func failed(_ line: Int, _ problem: String) -> RecordReader.Record {
        RecordReader.Record(bytes: [], line: line, column: 1, problem: problem)
    }
}
