/// The first line and the fields of a request or an answer, with the original bytes.
struct MessageHead {
    /// The maximum length of a head, in bytes.
    static let longest = 64 * 1024

    /// All bytes, including the empty line.
    private(set) var bytes: [UInt8]
    /// The three parts of the first line.
    let first: [String]
    private let fields: [(name: String, value: String)]

    /// The length of the head at the beginning of some bytes; `nil` when it is incomplete.
    ///
    /// A line may end without a carriage return, so that the proxy does not wait for one.
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

    /// Parses a head; `nil` if it is not valid HTTP/1.
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

    /// The values of a field, whose name is given in lower case.
    func values(of name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// Whether a field has a value, alone or in a list.
    func has(_ name: String, _ word: String) -> Bool {
        values(of: name).contains { $0.lowercased().contains(word) }
    }

    /// The status of an answer; `nil` for other heads.
    var status: Int? { first[0].hasPrefix("HTTP/1.") ? Int(first[1]).flatMap { 100...999 ~= $0 ? $0 : nil } : nil }

    /// The method of a request; `nil` for other heads.
    var method: String? { first.count == 3 && first[2].hasPrefix("HTTP/1.") && !first[0].isEmpty ? first[0] : nil }

    /// Whether the connection may serve another request afterwards.
    var keepsConnection: Bool {
        let version = method == nil ? first[0] : first[2]
        return has("connection", "close") ? false : version == "HTTP/1.1" || has("connection", "keep-alive")
    }

    /// The framing of a request's body; `nil` when the head is ambiguous.
    var requestFraming: BodyFraming? { announcedFraming(otherwise: .length(0)) }

    /// The framing of the body of an answer to a request with a method; `nil` when the head is ambiguous.
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

    /// Replaces `Content-Length`; the other bytes are unchanged.
    mutating func replaceLength(_ length: Int) {
        let name = Array("content-length:".utf8)
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
            // Upper and lower case in ASCII differ in one bit, which is set in the colon and the hyphen too.
            line.prefix(name.count).map({ $0 | 0x20 }) == name ? ArraySlice("Content-Length: \(length)\r".utf8) : line
        }
        bytes = Array(lines.joined(separator: [UInt8(ascii: "\n")]))
    }
}
