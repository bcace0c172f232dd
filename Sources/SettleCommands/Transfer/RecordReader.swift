internal import Settle
import SettleCore

/// Splits an input into the texts of documents, in bounded memory.
///
/// The beginning of the input determines its form: JSON lines; one array `[…]`; or the body of CouchDB's `_bulk_docs`,
/// `{"docs":[…]}`. The elements of an array are found by counting brackets outside of strings, so that a malformed element
/// affects only itself, as long as its brackets match.
final class RecordReader: RecordSource {
    private enum Form { case unknown, lines, array, ended }

    /// Longer texts are reported and skipped.
    static let longest = 256 * 1024 * 1024

    private let next: () throws -> [UInt8]
    private let longest: Int
    private var form = Form.unknown
    private var piece: [UInt8] = []
    private var index = 0
    private var line = 1
    private var column = 1

    /// Creates a reader of a source that returns pieces of bytes, and an empty one at the end.
    init(longest: Int = RecordReader.longest, _ next: @escaping () throws -> [UInt8]) {
        self.longest = longest
        self.next = next
    }

    /// The next text; `nil` at the end.
    func read() throws -> Record? {
        if form == .unknown { try begin() }
        switch form {
        case .lines: return try readLine()
        case .array: return try readElement()
        case .unknown, .ended: return nil
        }
    }

    /// Detects the form of the input, and advances to the first document.
    private func begin() throws {
        while piece.count < 512, !isDecided, case let more = try next(), !more.isEmpty { piece += more }
        if piece.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
        form = .lines
        if let length = Self.headerLength(piece[index...]) {
            form = .array
            for _ in 0..<length { step() }
        }
    }

    /// Whether the available bytes determine the form: a list begins, or a document ends with its line. So a document that is
    /// typed is stored without waiting for the next.
    private var isDecided: Bool {
        if Self.headerLength(piece[...]) != nil { return true }
        let line = piece.prefix { $0 != UInt8(ascii: "\n") }
        return line.count < piece.count && line.last { $0 > 0x20 } == UInt8(ascii: "}")
    }

    /// The length of the text before the first element, or `nil` if the input is not an array.
    static func headerLength(_ bytes: ArraySlice<UInt8>) -> Int? {
        var rest = bytes
        func consume(_ token: String) -> Bool {
            rest = rest.drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
            guard rest.starts(with: token.utf8) else { return false }
            rest = rest.dropFirst(token.utf8.count)
            return true
        }
        if consume("[") { return rest.startIndex - bytes.startIndex }
        guard consume("{") else { return nil }
        if consume("\"new_edits\""), !(consume(":") && (consume("false") || consume("true")) && consume(",")) {
            return nil
        }
        guard consume("\"docs\""), consume(":"), consume("[") else { return nil }
        return rest.startIndex - bytes.startIndex
    }

    /// Makes a byte available; `false` at the end.
    private func fill() throws -> Bool {
        if index < piece.count { return true }
        piece = try next()
        index = 0
        return !piece.isEmpty
    }

    private func step() {
        count(piece[index...index])
        index += 1
    }

    /// Counts lines and columns.
    private func count(_ bytes: ArraySlice<UInt8>) {
        for byte in bytes {
            column += 1
            if byte == UInt8(ascii: "\n") { (line, column) = (line + 1, 1) }
        }
    }

    private func readLine() throws -> Record? {
        while true {
            let number = line
            var bytes: [UInt8] = []
            var length = 0
            var isEnded = false
            while !isEnded, try fill() {
                let end = piece[index...].firstIndex(of: UInt8(ascii: "\n"))
                let part = piece[index..<(end ?? piece.count)]
                length += part.count
                if length <= longest { bytes += part }
                index = end.map { $0 + 1 } ?? piece.count
                isEnded = end != nil
            }
            line += 1
            let isBlank = bytes.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
            if length > longest { return tooLong(line: number, column: 1) }
            if !isBlank { return Record(bytes: bytes, line: number, column: 1) }
            if !isEnded { return nil }
        }
    }

    private func readElement() throws -> Record? {
        while try fill(), [0x20, 0x09, 0x0A, 0x0D, UInt8(ascii: ",")].contains(piece[index]) { step() }
        let (startLine, startColumn) = (line, column)
        guard try fill() else {
            form = .ended
            return Record(bytes: [], line: line, column: column, problem: "the array is not closed")
        }
        if piece[index] == UInt8(ascii: "]") {
            form = .ended
            return nil
        }
        var bytes: [UInt8] = []
        var length = 0
        var structure = JSONStructure()
        while try fill() {
            let start = index
            let mark = piece.withUnsafeBufferPointer { structure.next(in: $0, from: &index) }
            let isEnd =
                mark == UInt8(ascii: ",") && structure.depth == 0 || mark == UInt8(ascii: "]") && structure.depth == -1
            if isEnd { index -= 1 }
            length += index - start
            if length <= longest { bytes += piece[start..<index] }
            count(piece[start..<index])
            if isEnd {
                return length > longest
                    ? tooLong(line: startLine, column: startColumn)
                    : Record(bytes: bytes, line: startLine, column: startColumn)
            }
        }
        return Record(bytes: bytes, line: startLine, column: startColumn)
    }

    private func tooLong(line: Int, column: Int) -> Record {
        Record(bytes: [], line: line, column: column, problem: "longer than \(Quantity.bytes(Int64(longest)))")
    }
}

extension RecordReader {
    /// The text of one document in an input, and its position.
    struct Record: Equatable, Sendable {
        let bytes: [UInt8]
        /// The line of its first byte, from 1.
        let line: Int
        /// The column of its first byte, from 1.
        let column: Int
        /// A problem found before it is parsed.
        var problem: String?
    }
}

/// The documents of an input, one by one.
protocol RecordSource {
    /// The text of the next document; `nil` at the end.
    func read() throws -> RecordReader.Record?
}
