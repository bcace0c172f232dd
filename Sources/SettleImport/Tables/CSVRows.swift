/// Splits CSV into rows of cells, by RFC 4180. Lines end with a line feed, a carriage return, or both.
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

    private static let (comma, semicolon, tab) = (UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t"))
    private static let (feed, carriageReturn, quote) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\""))
    /// How much of the text the separator is looked for in.
    private static let longestHeader = 64 * 1024

    private let source: () throws -> [UInt8]
    private var piece: [UInt8] = []
    private var index = 0
    private var line = 1
    private var given: UInt8?
    /// What separates the cells, once a row was read.
    private(set) var separator = CSVRows.comma
    private var hasBegun = false

    /// Creates a reader of a source that returns pieces of text in UTF-8, and an empty one at the end.
    init(separator: UInt8? = nil, _ source: @escaping () throws -> [UInt8]) {
        given = separator
        self.source = source
    }

    /// The next row that is not blank; `nil` at the end.
    mutating func next() throws -> Row? {
        if !hasBegun { try begin() }
        while let row = try anyRow() {
            let isBlank = row.cells == [Cell(text: "", isQuoted: false)] && row.problem == nil
            if !isBlank { return row }
        }
        return nil
    }

    /// Finds the separator: what the header has most of, or what Excel's line `sep=;` says.
    private mutating func begin() throws {
        hasBegun = true
        while piece.count < Self.longestHeader, Self.header(piece) == nil, case let more = try source(), !more.isEmpty {
            piece += more
        }
        let header = Self.header(piece) ?? piece[...]
        if header.count == 5, header.starts(with: "sep=".utf8), let last = header.last {
            separator = given ?? last
            index = 5
            return
        }
        func count(_ byte: UInt8) -> Int {
            var isQuoted = false
            return header.count { found in
                if found == Self.quote { isQuoted.toggle() }
                return found == byte && !isQuoted
            }
        }
        var best = Self.comma
        for other in [Self.semicolon, Self.tab] where count(other) > count(best) { best = other }
        separator = given ?? best
    }

    /// The first line that ends outside of quotes; `nil` if it does not end.
    private static func header(_ bytes: [UInt8]) -> ArraySlice<UInt8>? {
        var isQuoted = false
        let end = bytes.firstIndex { byte in
            if byte == quote { isQuoted.toggle() }
            return !isQuoted && (byte == feed || byte == carriageReturn)
        }
        return end.map { bytes[..<$0] }
    }

    private mutating func anyRow() throws -> Row? {
        guard try fill() else { return nil }
        var row = Row(line: line)
        var cell: [UInt8] = []
        var length = 0
        var state = State.start
        func endCell() throws {
            guard let text = String(validating: cell, as: UTF8.self) else {
                throw ForeignFileError(
                    .unknown, "line \(row.line) is not UTF-8; the encoding windows-1252 reads older tables of Windows")
            }
            row.cells.append(Cell(text: text, isQuoted: state == .quoteInQuoted))
            cell = []
            state = .start
        }
        func fail(_ problem: String) {
            if row.problem == nil { row.problem = problem }
            state = .failed
        }
        while try fill() {
            var byte = piece[index]
            index += 1
            length += 1
            if byte == Self.carriageReturn, state != .quoted {
                if try fill(), piece[index] == Self.feed { index += 1 }
                byte = Self.feed
            }
            if byte == Self.feed { line += 1 }
            if length > RecordReader.longest { fail("the row is too long") }
            switch (state, byte) {
            case (.failed, Self.feed): return row
            case (.failed, _): break
            case (.quoted, Self.quote): state = .quoteInQuoted
            case (.quoted, _): cell.append(byte)
            case (.quoteInQuoted, Self.quote):
                cell.append(byte)
                state = .quoted
            case (_, separator): try endCell()
            case (_, Self.feed):
                try endCell()
                return row
            case (.quoteInQuoted, _): fail("text follows the closing quote of cell \(row.cells.count + 1)")
            case (.start, Self.quote): state = .quoted
            case (.plain, Self.quote):
                fail("a quote stands within cell \(row.cells.count + 1); double it, and put the cell in quotes")
            default:
                cell.append(byte)
                state = .plain
            }
        }
        if state == .quoted { fail("the quote of cell \(row.cells.count + 1) is not closed") } else { try endCell() }
        return row
    }

    /// Makes a byte available; false at the end.
    private mutating func fill() throws -> Bool {
        while index >= piece.count {
            piece = try source()
            index = 0
            if piece.isEmpty { return false }
        }
        return true
    }
}
