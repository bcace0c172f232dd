internal import SettleCore

/// Reads text from a source that gives it in pieces, and counts lines and columns.
final class TextCursor {
    private let source: () throws -> [UInt8]
    private var piece: [UInt8] = []
    private var index = 0
    /// The line of the next byte, from 1.
    private(set) var line = 1
    /// The column of the next byte, from 1.
    private(set) var column = 1

    init(_ source: @escaping () throws -> [UInt8]) { self.source = source }

    /// The next byte; `nil` at the end.
    func peek() throws -> UInt8? {
        if index >= piece.count {
            piece = try source()
            index = 0
            if piece.isEmpty { return nil }
        }
        return piece[index]
    }

    /// Goes on by a byte that was peeked at.
    func step() {
        count(piece[index...index])
        index += 1
    }

    private func count(_ bytes: ArraySlice<UInt8>) {
        for byte in bytes {
            column += 1
            if byte == UInt8(ascii: "\n") { (line, column) = (line + 1, 1) }
        }
    }

    /// Goes on to the next byte that is not blank, and returns it; `nil` at the end.
    func skipBlanks(and other: UInt8? = nil) throws -> UInt8? {
        while let byte = try peek() {
            guard Self.isBlank(byte) || byte == other else { return byte }
            step()
        }
        return nil
    }

    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    /// A part of the text: its bytes unless they are too many.
    struct Part {
        var bytes: [UInt8] = []
        var length = 0
        let line: Int
        let column: Int
        /// Whether its end was found.
        var isComplete = false
    }

    /// The rest of the line, without its end; `nil` at the end of the input.
    func line(atMost longest: Int) throws -> Part? {
        guard try peek() != nil else { return nil }
        var part = Part(line: line, column: column)
        while !part.isComplete, try peek() != nil {
            let end = piece[index...].firstIndex(of: UInt8(ascii: "\n"))
            add(piece[index..<(end ?? piece.count)], to: &part, longest)
            column += (end ?? piece.count) - index
            index = end.map { $0 + 1 } ?? piece.count
            part.isComplete = end != nil
        }
        (line, column) = (line + 1, 1)
        return part
    }

    /// The element of a list at the cursor, which ends before a comma or a bracket that it does not open.
    func element(atMost longest: Int) throws -> Part {
        try part(longest) { mark, depth in
            mark == UInt8(ascii: ",") && depth == 0
                || (mark == UInt8(ascii: "]") || mark == UInt8(ascii: "}")) && depth == -1
        }
    }

    private func part(_ longest: Int, isAfter: (UInt8, Int) -> Bool) throws -> Part {
        var part = Part(line: line, column: column)
        var structure = JSONStructure()
        while !part.isComplete, try peek() != nil {
            let start = index
            if let mark = piece.withUnsafeBufferPointer({ structure.next(in: $0, from: &index) }),
                isAfter(mark, structure.depth)
            {
                index -= 1
                part.isComplete = true
            }
            add(piece[start..<index], to: &part, longest)
            count(piece[start..<index])
        }
        return part
    }

    /// Reads on until the brackets of a part are closed, the last one included.
    func close(_ part: inout Part, atMost longest: Int) throws {
        var structure = JSONStructure()
        var offset = 0
        part.bytes.withUnsafeBufferPointer { while structure.next(in: $0, from: &offset) != nil {} }
        while !part.isComplete, try peek() != nil {
            let start = index
            let mark = piece.withUnsafeBufferPointer { structure.next(in: $0, from: &index) }
            part.isComplete = mark != nil && structure.depth == 0
            add(piece[start..<index], to: &part, longest)
            count(piece[start..<index])
        }
    }

    /// The text in quotes at the cursor, quotes included; of one that is too long the beginning.
    func quoted(atMost longest: Int) throws -> [UInt8] {
        var text: [UInt8] = []
        var isEscaped = false
        while let byte = try peek() {
            step()
            text.append(byte)
            if text.count > longest || byte == UInt8(ascii: "\"") && text.count > 1 && !isEscaped { break }
            isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
        }
        return text
    }

    private func add(_ bytes: ArraySlice<UInt8>, to part: inout Part, _ longest: Int) {
        part.length += bytes.count
        if part.length <= longest { part.bytes += bytes } else { part.bytes = [] }
    }
}
