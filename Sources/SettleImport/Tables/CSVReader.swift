package import SettleCore

/// Reads documents of CSV (RFC 4180): the first row names the members, each further one is a document.
///
/// A row becomes the text of its document in JSON. Rows are read one by one, in bounded memory; a malformed row affects only
/// itself, and is reported with its line. The table is read twice, because a column has one type: that of all its cells.
package final class CSVReader: RecordSource {
    private let open: () throws -> () throws -> [UInt8]
    private let takesTypes: Bool
    private let separator: UInt8?
    private var rows: CSVRows?
    private var columns: [CSVColumn] = []
    package let form = DumpKind.table
    package let notes = DumpNotes()

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - takesTypes: Whether numbers, `true`, `false` and JSON lists and objects are recognized; else all cells are texts.
    ///   - separator: What separates cells; `nil` to find it in the header.
    ///   - open: Begins the text anew: it returns a source that gives pieces in UTF-8, and an empty one at the end.
    package init(
        takesTypes: Bool, separator: UInt8? = nil, _ open: @escaping () throws -> () throws -> [UInt8]
    ) {
        self.takesTypes = takesTypes
        self.separator = separator
        self.open = open
    }

    /// Reads the header, and finds the types of the columns.
    ///
    /// - Throws: ``ForeignFileError`` for a header that is not one, and for a text that is not UTF-8.
    package func begin() throws {
        guard rows == nil else { return }
        var rows = CSVRows(separator: separator, try open())
        columns = try header(&rows)
        while let row = try rows.next() {
            guard takesTypes, row.problem == nil, row.cells.count == columns.count else { continue }
            for (index, cell) in row.cells.enumerated() where !cell.text.isEmpty { columns[index].adopt(cell.text) }
        }
        var second = CSVRows(separator: rows.separator, try open())
        _ = try second.next()
        self.rows = second
    }

    /// The next document; `nil` at the end.
    package func read() throws -> RecordReader.Record? {
        try begin()
        guard let row = try rows?.next() else { return nil }
        if let problem = row.problem { return failed(row.line, problem) }
        guard row.cells.count == columns.count else {
            return failed(
                row.line,
                "\(counted(row.cells.count, "cell")), but the header names \(counted(columns.count, "column"))")
        }
        var document = JSONObject()
        for (column, cell) in zip(columns, row.cells) where column.has(cell) {
            guard column.put(cell.text, into: &document) else {
                return failed(row.line, "the column \"\(column.name)\" is inside a member that is not an object")
            }
        }
        return RecordReader.Record(bytes: JSONValue.object(document).utf8, line: row.line, column: 1)
    }

    private func header(_ rows: inout CSVRows) throws -> [CSVColumn] {
        guard let row = try rows.next() else { return [] }
        func failure(_ problem: String) -> ForeignFileError {
            ForeignFileError(.unknown, "line \(row.line): \(problem); the first row must name the columns")
        }
        if let problem = row.problem { throw failure(problem) }
        var names: Set<String> = []
        return try row.cells.map { cell in
            if cell.text.isEmpty { throw failure("a column has no name") }
            guard names.insert(cell.text).inserted else { throw failure("two columns are named \"\(cell.text)\"") }
            return CSVColumn(cell.text)
        }
    }

    private func failed(_ line: Int, _ problem: String) -> RecordReader.Record {
        RecordReader.Record(bytes: [], line: line, column: 1, problem: problem)
    }
}

// MARK: - CSVColumn

/// A column of a table: a member of the documents, by its path, and the type that fits all its cells.
struct CSVColumn {
    private enum Kind { case none, number, boolean, json, text }

    let name: String
    private let path: [String]
    private var kind: Kind

    init(_ name: String) {
        self.name = name
        path = FieldPath.names(name)
        kind = ["_id", "_rev"].contains(name) ? .text : .none
    }

    /// Takes the text of a cell into account.
    mutating func adopt(_ text: String) {
        if kind == .text { return }
        let found = Self.kind(of: text)
        kind = kind == .none || kind == found ? found : .text
    }

    /// Whether a cell is a member of its document: an empty one is if it is quoted, in a column of texts.
    func has(_ cell: CSVRows.Cell) -> Bool {
        !cell.text.isEmpty || cell.isQuoted && (kind == .text || kind == .none)
    }

    /// Adds a cell's value to a document; false if another column has a value where this one needs an object.
    func put(_ text: String, into document: inout JSONObject) -> Bool {
        let value: JSONValue
        switch kind {
        case .none, .text: value = .string(text)
        case .boolean: value = .bool(text.lowercased() == "true")
        case .number, .json: value = (try? JSONValue(parsing: text)) ?? .string(text)
        }
        return Self.put(value, path[...], into: &document)
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

    /// The type of a cell. An integer that a double can't hold is a text, as is `007`.
    private static func kind(of text: String) -> Kind {
        if text.utf8.count <= 5, ["true", "false"].contains(text.lowercased()) { return .boolean }
        guard let first = text.utf8.first, "-0123456789[{".utf8.contains(first),
            let value = try? JSONValue(parsing: text)
        else { return .text }
        guard case .number(let number) = value else { return .json }
        return number.isInteger && text.utf8.count > 15 ? .text : .number
    }
}

// MARK: - FieldPath

/// The path of a member in a document, such as `address.city`. A backslash precedes a dot that belongs to a name.
package enum FieldPath {
    /// The names of a path.
    package static func names(_ path: String) -> [String] {
        var names = [""]
        var isEscaped = false
        for character in path {
            if character == ".", !isEscaped {
                names.append("")
            } else if isEscaped || character != "\\" {
                names[names.count - 1].append(character)
            }
            isEscaped = !isEscaped && character == "\\"
        }
        return names
    }

    /// A name as part of a path.
    package static func escaped(_ name: String) -> String {
        name.replacing("\\", with: "\\\\").replacing(".", with: "\\.")
    }

    /// The value at a path.
    package static func value(_ path: String, of document: JSONValue) -> JSONValue? { value(names(path), of: document) }

    /// The value at the names of a path; a number is also a position in a list.
    package static func value(_ names: [String], of document: JSONValue) -> JSONValue? {
        names.reduce(document as JSONValue?) { value, name in
            value?[name] ?? Int(name).flatMap { value?.array == nil ? nil : value?[$0] }
        }
    }
}
