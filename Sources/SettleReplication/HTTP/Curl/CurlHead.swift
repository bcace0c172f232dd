/// The head of a response, parsed line by line as curl delivers it.
struct CurlHead: Sendable {
    private(set) var status = 0
    private(set) var headers = HTTPClientHeaders()
    /// Whether the empty line that ends the head was seen. Trailers after the body are ignored.
    private(set) var isComplete = false
    private var size = 0
    /// How many bytes a head may have.
    private static let limit = 256 * 1024

    /// Takes a line with its terminator; returns false if the head is too long.
    mutating func take(_ line: UnsafeRawBufferPointer) -> Bool {
        guard !isComplete else { return true }
        size += line.count
        guard size <= Self.limit else { return false }
        let text = line.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
        if text.starts(with: "HTTP/".utf8) {
            // Headers of interim responses, such as 100, are dropped.
            headers = HTTPClientHeaders()
            let code = text.drop { $0 != UInt8(ascii: " ") }.dropFirst().prefix { 48...57 ~= $0 }
            status = code.prefix(3).reduce(0) { $0 * 10 + Int($1 - 48) }
        } else if text.isEmpty {
            isComplete = status >= 200
        } else if let colon = text.firstIndex(of: UInt8(ascii: ":")) {
            let name = String(decoding: text[..<colon], as: UTF8.self)
            headers.add(name, Self.trimmed(text[(colon + 1)...]))
        }
        return true
    }

    private static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        let isBlank: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        let head = bytes.drop(while: isBlank)
        guard let last = head.lastIndex(where: { !isBlank($0) }) else { return "" }
        return String(decoding: head[...last], as: UTF8.self)
    }
}
