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
                return failed(row.line, "the column \"\(column.name)\" is inside a member that is not an object")
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

// MARK: - CSVColumn

/// A column of a table: a member of the documents, by its path.
struct CSVColumn {
    let name: String
    private let path: [String]

    init(_ name: String) {
        self.name = name
        path = FieldPath.names(name)
    }

    /// Adds a cell's value to a document; `false` if another column has a value where this one needs an object.
    func put(_ text: String, takesTypes: Bool, into document: inout JSONObject) -> Bool {
        let isText = !takesTypes || ["_id", "_rev"].contains(name)
        return Self.put(isText ? .string(text) : Self.value(text), path[...], into: &document)
    }

    private static func put(_ value: JSONValue, _ path: ArraySlice<String>, into object: inout JSONObject) -> Bool {
        guard let name = path.first else { return false }
        if path.count == 1 {
            guard object[name] == nil else { return false }
            object[name] = value
            return true
        }
        guard var inner = object[name].map(\.object) ?? JSONObject() else { return false }
        guard put(value, path.dropFirst(), into: &inner) else { return false }
        object[name] = .object(inner)
        return true
    }

    /// The value of a cell. An integer that a double can't hold stays a text, as does `007`.
    private static func value(_ text: String) -> JSONValue {
        switch text.lowercased() {
        case "true": return true
        case "false": return false
        default: break
        }
        guard let first = text.utf8.first, "-0123456789[{".utf8.contains(first),
            let value = try? JSONValue(parsing: text)
        else { return .string(text) }
        if case .number = value, text.utf8.allSatisfy({ $0 != UInt8(ascii: ".") }), text.utf8.count > 15 {
            return .string(text)
        }
        return value
    }
}

// MARK: - CSVRows

/// Splits CSV into rows of cells, by RFC 4180. Lines end with a line feed, with or without a carriage return.
struct CSVRows {
    /// A row, and the line on which it begins.
    struct Row {
        var cells: [Cell] = []
        let line: Int
        var problem: String?
    }

    /// A cell, and whether it stood in quotes.
    struct Cell: Equatable {
        let text: String
        let isQuoted: Bool
    }

    /// The part of the table that the last byte belonged to.
    private enum State { case start, plain, quoted, quoteInQuoted, failed }

    private let source: () throws -> [UInt8]
    private var piece: [UInt8] = []
    private var index = 0
    private var line = 1
    private var isFirst = true

    /// Creates a reader of a source that returns pieces of bytes, and an empty one at the end.
    init(_ source: @escaping () throws -> [UInt8]) { self.source = source }

    /// The next row that is not blank; `nil` at the end.
    mutating func next() throws -> Row? {
        while let row = try anyRow() {
            let isBlank = row.cells == [Cell(text: "", isQuoted: false)] && row.problem == nil
            if !isBlank { return row }
        }
        return nil
    }

    private mutating func anyRow() throws -> Row? {
        guard try fill() else { return nil }
        var row = Row(line: line)
        var cell: [UInt8] = []
        var length = 0
        var state = State.start
        func endCell() {
            if state == .plain || state == .start, cell.last == UInt8(ascii: "\r") { cell.removeLast() }
            row.cells.append(
                Cell(text: String(decoding: cell, as: UTF8.self), isQuoted: state == .quoteInQuoted))
            cell = []
            state = .start
        }
        func fail(_ problem: String) {
            if row.problem == nil { row.problem = problem }
            state = .failed
        }
        while try fill() {
            let byte = piece[index]
            index += 1
            length += 1
            if byte == UInt8(ascii: "\n") { line += 1 }
            if length > RecordReader.longest { fail("the row is too long") }
            switch (state, byte) {
            case (.failed, UInt8(ascii: "\n")): return row
            case (.failed, _): break
            case (.quoted, UInt8(ascii: "\"")): state = .quoteInQuoted
            case (.quoted, _): cell.append(byte)
            case (.quoteInQuoted, UInt8(ascii: "\"")):
                cell.append(byte)
                state = .quoted
            case (_, UInt8(ascii: ",")): endCell()
            case (_, UInt8(ascii: "\n")):
                endCell()
                return row
            case (.quoteInQuoted, UInt8(ascii: "\r")): break
            case (.quoteInQuoted, _): fail("text follows the closing quote of cell \(row.cells.count + 1)")
            case (.start, UInt8(ascii: "\"")): state = .quoted
            case (.plain, UInt8(ascii: "\"")):
                fail("a quote stands within cell \(row.cells.count + 1); double it, and put the cell in quotes")
            default:
                cell.append(byte)
                state = .plain
            }
        }
        if state == .quoted { fail("the quote of cell \(row.cells.count + 1) is not closed") } else { endCell() }
        return row
    }

    /// Makes a byte available; `false` at the end.
    private mutating func fill() throws -> Bool {
        while index >= piece.count {
            piece = try source()
            index = 0
            if piece.isEmpty { return false }
            if isFirst {
                isFirst = false
                while piece.count < 3, case let more = try source(), !more.isEmpty { piece += more }
                if piece.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
            }
        }
        return true
    }
}
