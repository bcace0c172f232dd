/// An answer of the server.
struct Answer {
    let status: Int
    let body: [UInt8]
    /// Whether the server closes the connection with it.
    let isLast: Bool
}

/// Reads the answer to a request from the pieces in which it comes: HTTP/1.1 with a length, or in chunks.
struct AnswerReader {
    struct Malformed: Error {}

    private enum Framing {
        case head
        case length(Int)
        case chunks
    }

    private var received: [UInt8] = []
    /// Where in `received` the part begins that was not looked at.
    private var place = 0
    private var framing = Framing.head
    private var status = 0
    private var isLast = false
    private var body: [UInt8] = []
    private static let end: [UInt8] = [13, 10, 13, 10]

    /// Takes a piece; the answer when it is complete.
    mutating func take(_ piece: ArraySlice<UInt8>) throws -> Answer? {
        received += piece
        if case .head = framing {
            guard let end = find(Self.end) else { return nil }
            try readHead(received[..<end])
            place = end + 4
        }
        switch framing {
        case .head: return nil
        case .length(let length):
            guard received.count - place >= length else { return nil }
            body = Array(received[place..<(place + length)])
        case .chunks: guard try readChunks() else { return nil }
        }
        return Answer(status: status, body: body, isLast: isLast)
    }

    private mutating func readHead(_ head: ArraySlice<UInt8>) throws {
        let lines = head.split(separator: 10)
        guard let first = lines.first, first.count > 12, let code = Self.number(first.dropFirst(9).prefix(3)) else {
            throw Malformed()
        }
        status = code
        framing = .length(0)
        for line in lines.dropFirst() {
            if let value = Self.value(of: "content-length:", in: line) {
                guard let length = Self.number(value) else { throw Malformed() }
                framing = .length(length)
            } else if Self.value(of: "transfer-encoding:", in: line) != nil {
                framing = .chunks
            } else if let value = Self.value(of: "connection:", in: line) {
                isLast = value.first.map { $0 | 0x20 } == UInt8(ascii: "c")
            }
        }
    }

    /// Reads the chunks that have come; true when the last has.
    private mutating func readChunks() throws -> Bool {
        while let end = find([13, 10]) {
            guard let length = Self.number(received[place..<end], radix: 16) else { throw Malformed() }
            guard received.count >= end + 2 + length + 2 else { return false }
            body += received[(end + 2)..<(end + 2 + length)]
            place = end + 2 + length + 2
            if length == 0 { return true }
        }
        return false
    }

    private func find(_ pattern: [UInt8]) -> Int? {
        var at = place
        while at + pattern.count <= received.count {
            if received[at] == pattern[0], received[at..<(at + pattern.count)].elementsEqual(pattern) { return at }
            at += 1
        }
        return nil
    }

    private static func value(of name: StaticString, in line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        let count = name.utf8CodeUnitCount
        let name = UnsafeBufferPointer(start: name.utf8Start, count: count)
        guard line.count > count, zip(line, name).allSatisfy({ $0 | 0x20 == $1 | 0x20 }) else { return nil }
        return line.dropFirst(count).drop { $0 == 32 }
    }

    private static func number(_ text: ArraySlice<UInt8>, radix: Int = 10) -> Int? {
        Int(String(decoding: text.filter { $0 > 32 }, as: UTF8.self), radix: radix)
    }
}
