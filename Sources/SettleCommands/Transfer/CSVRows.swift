internal import Settle

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

    /// What the last byte was part of.
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
