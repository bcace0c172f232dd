/// The first line and the fields of a request or an answer, with its bytes as they came.
struct MessageHead {
    /// The longest head that is looked at, in bytes.
    static let longest = 64 * 1024

    /// Every byte, the empty line included.
    private(set) var bytes: [UInt8]
    /// The first line in its three parts.
    let first: [String]
    private let fields: [(name: String, value: String)]

    /// How many bytes the head at the beginning of some has; `nil` when it is not complete.
    ///
    /// A line that ends without a carriage return ends here too, so that nobody waits for another.
    static func length(in bytes: ArraySlice<UInt8>) -> Int? {
        let (lineFeed, carriageReturn) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"))
        var index = bytes.startIndex
        while let found = bytes[index...].firstIndex(of: lineFeed) {
            let next = bytes.index(after: found)
            if next < bytes.endIndex, bytes[next] == lineFeed { return next + 1 - bytes.startIndex }
            if next + 1 < bytes.endIndex, bytes[next] == carriageReturn, bytes[next + 1] == lineFeed {
                return next + 2 - bytes.startIndex
            }
            index = next
        }
        return nil
    }

    /// Reads a head; `nil` if it is invalid that HTTP/1 knows.
    init?(_ bytes: ArraySlice<UInt8>) {
        let pieces = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard pieces.count > 2, pieces.dropLast().allSatisfy({ $0.last == UInt8(ascii: "\r") }) else { return nil }
        let lines = pieces.dropLast(2).map { String(decoding: $0.dropLast(), as: UTF8.self) }
        guard let line = lines.first else { return nil }
        first = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        guard first.count >= 2 else { return nil }
        var fields: [(name: String, value: String)] = []
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":"), !line[..<colon].contains(where: \.isWhitespace),
                !line.unicodeScalars.contains(where: { $0 == "\r" || $0 == "\0" })
            else { return nil }
            let value = line[line.index(after: colon)...].split(separator: " ").joined(separator: " ")
            fields.append((line[..<colon].lowercased(), value))
        }
        self.fields = fields
        self.bytes = Array(bytes)
    }

    /// The values of a field, its name in small letters.
    func values(of name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// Whether a field names something, in a list or alone.
    func has(_ name: String, _ word: String) -> Bool {
        values(of: name).contains { $0.lowercased().contains(word) }
    }

    /// The status of an answer; `nil` when the head is none of an answer.
    var status: Int? { first[0].hasPrefix("HTTP/1.") ? Int(first[1]).flatMap { 100...999 ~= $0 ? $0 : nil } : nil }

    /// The method of a request; `nil` when the head is none of a request.
    var method: String? { first.count == 3 && first[2].hasPrefix("HTTP/1.") && !first[0].isEmpty ? first[0] : nil }

    /// Whether the connection may serve another request afterwards.
    var keepsConnection: Bool {
        let version = method == nil ? first[0] : first[2]
        return has("connection", "close") ? false : version == "HTTP/1.1" || has("connection", "keep-alive")
    }

    /// The body that a request announces; `nil` when the head can be read in two ways.
    var requestFraming: BodyFraming? { announcedFraming(otherwise: .length(0)) }

    /// The body of an answer to a request of a method; `nil` when the head can be read in two ways.
    func answerFraming(to method: String) -> BodyFraming? {
        let hasNone = method == "HEAD" || status.map { $0 < 200 || $0 == 204 || $0 == 304 } == true
        return hasNone ? .length(0) : announcedFraming(otherwise: .untilEnd)
    }

    private func announcedFraming(otherwise: BodyFraming) -> BodyFraming? {
        let (codings, lengths) = (values(of: "transfer-encoding"), values(of: "content-length"))
        if !codings.isEmpty {
            return lengths.isEmpty && codings.map { $0.lowercased() } == ["chunked"] ? .chunked(ChunkScanner()) : nil
        }
        if lengths.isEmpty { return otherwise }
        guard lengths.count == 1, lengths[0].utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else {
            return nil
        }
        return Int(lengths[0]).map(BodyFraming.length)
    }

    /// Writes another `Content-Length`; the other bytes stay.
    mutating func replaceLength(_ length: Int) {
        let name = Array("content-length:".utf8)
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
            // Capital letters of ASCII differ from small ones in one bit, which the mark and the hyphen have too.
            line.prefix(name.count).map({ $0 | 0x20 }) == name ? ArraySlice("Content-Length: \(length)\r".utf8) : line
        }
        bytes = Array(lines.joined(separator: [UInt8(ascii: "\n")]))
    }
}
