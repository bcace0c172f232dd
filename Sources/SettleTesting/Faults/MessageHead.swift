internal import SettleHTTP

/// The first line and the header fields of a request or an answer, with the original bytes.
struct MessageHead {
    /// The maximum length of a head, in bytes.
    static let longest = 64 * 1024

    /// All bytes, including the empty line.
    private(set) var bytes: [UInt8]
    /// The three parts of the first line.
    let first: [String]
    private let headers: HTTPHeaders

    /// The length of the head at the beginning of some bytes; `nil` if it is incomplete.
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
        var headers = HTTPHeaders()
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":"), !line[..<colon].contains(where: \.isWhitespace),
                !line.unicodeScalars.contains(where: { $0 == "\r" || $0 == "\0" })
            else { return nil }
            let value = line[line.index(after: colon)...].split(separator: " ").joined(separator: " ")
            headers.add(String(line[..<colon]), value)
        }
        self.headers = headers
        self.bytes = Array(bytes)
    }

    /// Whether a field has a value, alone or in a list.
    func has(_ name: String, _ word: String) -> Bool {
        headers.all(name).contains { $0.lowercased().contains(word) }
    }

    /// The status of an answer; `nil` for other heads.
    var status: Int? { first[0].hasPrefix("HTTP/1.") ? Int(first[1]).flatMap { 100...999 ~= $0 ? $0 : nil } : nil }

    /// The method of a request; `nil` for other heads.
    var method: String? { first.count == 3 && first[2].hasPrefix("HTTP/1.") && !first[0].isEmpty ? first[0] : nil }

    /// Whether the connection may serve another request afterwards.
    var keepsConnection: Bool {
        let version = method == nil ? first[0] : first[2]
        return has("Connection", "close") ? false : version == "HTTP/1.1" || has("Connection", "keep-alive")
    }

    /// The framing of a request's body; `nil` if the head is ambiguous.
    var requestFraming: BodyFraming? { announcedFraming(otherwise: .length(0)) }

    /// The framing of the body of an answer to a request with a method; `nil` if the head is ambiguous.
    func answerFraming(to method: String) -> BodyFraming? {
        let hasNone = method == "HEAD" || status.map { $0 < 200 || $0 == 204 || $0 == 304 } == true
        return hasNone ? .length(0) : announcedFraming(otherwise: .untilEnd)
    }

    private func announcedFraming(otherwise: BodyFraming) -> BodyFraming? {
        let (codings, lengths) = (headers.all("Transfer-Encoding"), headers.all("Content-Length"))
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

// MARK: - BodyFraming

/// The framing of a body, with the state of reading it.
enum BodyFraming {
    /// A number of remaining bytes.
    case length(Int)
    /// Chunked encoding.
    case chunked(ChunkScanner)
    /// All bytes until the connection ends.
    case untilEnd

    /// Whether the body is complete.
    var isDone: Bool {
        switch self {
        case .length(let left): left == 0
        case .chunked(let scanner): scanner.isDone
        case .untilEnd: false
        }
    }

    /// The remaining length of the body, if known.
    var length: Int? { if case .length(let left) = self { left } else { nil } }

    /// Advances over received bytes.
    ///
    /// - Returns: The number of bytes that belong to the body, and whether they are content rather than framing.
    ///   More bytes may belong to it: call this again. Malformed bytes count as content until the connection ends.
    mutating func step(over bytes: ArraySlice<UInt8>) -> (count: Int, isContent: Bool) {
        switch self {
        case .length(let left):
            let count = min(left, bytes.count)
            self = .length(left - count)
            return (count, true)
        case .untilEnd: return (bytes.count, true)
        case .chunked(var scanner):
            guard let step = scanner.step(over: bytes) else {
                self = .untilEnd
                return (0, true)
            }
            self = .chunked(scanner)
            return step
        }
    }
}

// MARK: - ChunkScanner

/// Finds the end of a chunked body, as in RFC 9112 section 7.1.
///
///     5\r\n        size: hexadecimal digits, then anything up to the line's end
///     hello        content
///     \r\n         contentEnd
///     0\r\n        size 0: the trailer follows
///     X: y\r\n     trailer: lines, until one is empty
///     \r\n
struct ChunkScanner {
    private enum Place {
        case size(digits: Int, value: Int, isOver: Bool)
        case content(Int)
        case contentEnd
        case trailer(lineLength: Int)
        case done
    }

    private var place = Place.size(digits: 0, value: 0, isOver: false)

    var isDone: Bool { if case .done = place { true } else { false } }

    /// Advances over one piece: a run of content, or a framing byte; `nil` for malformed framing.
    mutating func step(over bytes: ArraySlice<UInt8>) -> (count: Int, isContent: Bool)? {
        guard let byte = bytes.first, !isDone else { return (0, false) }
        if case .content(let left) = place {
            let count = min(left, bytes.count)
            place = count == left ? .contentEnd : .content(left - count)
            return (count, true)
        }
        guard let next = following(byte) else { return nil }
        place = next
        return (1, false)
    }

    private func following(_ byte: UInt8) -> Place? {
        let isLineEnd = byte == UInt8(ascii: "\n")
        switch place {
        case .size(let digits, let value, let isOver):
            if isLineEnd {
                guard digits > 0 else { return nil }
                return value == 0 ? .trailer(lineLength: 0) : .content(value)
            }
            guard !isOver, let digit = Character(UnicodeScalar(byte)).hexDigitValue else {
                return digits > 0 ? .size(digits: digits, value: value, isOver: true) : nil
            }
            return digits < 15 ? .size(digits: digits + 1, value: value << 4 | digit, isOver: false) : nil
        case .contentEnd:
            if isLineEnd { return .size(digits: 0, value: 0, isOver: false) }
            return byte == UInt8(ascii: "\r") ? .contentEnd : nil
        case .trailer(let length):
            if isLineEnd { return length == 0 ? .done : .trailer(lineLength: 0) }
            return .trailer(lineLength: byte == UInt8(ascii: "\r") ? length : length + 1)
        case .content, .done: return nil
        }
    }
}

// MARK: - ProxyRequest

/// The part of a request that was read.
struct ProxyRequest {
    /// Empty for bytes that are not a request.
    let method: String
    let path: String
    let keepsConnection: Bool
    /// Whether the client waits for a `100 Continue` before it sends the body.
    let isWaiting: Bool
    /// The framing of the remaining body.
    var body: BodyFraming
    /// The bytes that were read, beginning with the head.
    var held = ByteQueue()

    /// Creates a request from its head; `nil` if its end can't be determined.
    init?(_ head: MessageHead) {
        guard let method = head.method, let body = head.requestFraming else { return nil }
        self.method = method
        path = head.first[1]
        keepsConnection = head.keepsConnection
        isWaiting = head.has("Expect", "100-continue")
        self.body = body
        held.append(head.bytes)
    }

    /// Creates a request from bytes that are not HTTP: all bytes that arrive.
    init() {
        (method, path, keepsConnection, isWaiting, body) = ("", "", false, false, .untilEnd)
    }
}
