internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

/// JSON as CouchDB prints it.
///
/// The store keeps the spelling of numbers. CouchDB reads each number into a float or an integer, and prints that:
/// `1e3` as `1000.0`, `-0.0` as `0.0`, the integer `-0` as `0`.
enum WireJSON {
    /// Appends compact JSON with its numbers in CouchDB's spelling.
    ///
    /// - Complexity: O(*n*) in bytes; parts without floats are copied.
    static func append(_ json: some RandomAccessCollection<UInt8>, to output: inout [UInt8]) {
        let isAppended: Void? = json.withContiguousStorageIfAvailable { append($0, to: &output) }
        if isAppended == nil { Array(json).withUnsafeBufferPointer { append($0, to: &output) } }
    }

    private static func append(_ text: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]) {
        var structure = JSONStructure()
        var (index, copied) = (0, 0)
        var mark: UInt8?
        repeat {
            var start = index
            mark = structure.next(in: text, from: &index)
            while start < index, text[start] <= 0x20 { start += 1 }
            guard start < index, text[start] == UInt8(ascii: "-") || isDigit(text[start]) else { continue }
            let number = text[start..<index].prefix(while: isPartOfNumber)
            guard let other = respelled(number) else { continue }
            output.append(contentsOf: text[copied..<start])
            output.append(contentsOf: other.utf8)
            copied = number.endIndex
        } while mark != nil
        output.append(contentsOf: text[copied...])
    }

    /// Appends a value with its numbers in CouchDB's spelling.
    static func append(_ value: JSONValue, to output: inout [UInt8]) {
        value.append(to: &output) { number, output in
            output.append(contentsOf: (respelled(number.text.utf8) ?? number.text).utf8)
        }
    }

    /// A value as CouchDB prints it.
    static func bytes(_ value: JSONValue) -> [UInt8] {
        var output: [UInt8] = []
        append(value, to: &output)
        return output
    }

    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

    private static func isPartOfNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"): true
        default: isDigit(byte)
        }
    }

    /// CouchDB's spelling of a number; `nil` if it is the same.
    private static func respelled(_ spelling: some BidirectionalCollection<UInt8>) -> String? {
        if isPlain(spelling) { return nil }
        let isFloat = spelling.contains {
            $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "e") || $0 == UInt8(ascii: "E")
        }
        guard isFloat else { return spelling.elementsEqual("-0".utf8) ? "0" : nil }
        guard let number = JSONNumber(text: String(decoding: spelling, as: UTF8.self)) else { return nil }
        let value = number.double
        // The smallest floats need the point that `JSONNumber` gives them: CouchDB reads `5e-324` as zero.
        return value == 0 ? "0.0" : JSONNumber(value)?.text
    }

    /// Whether the spelling is certainly CouchDB's: an integer, or a few digits around a point that are the
    /// shortest spelling of their float. Any two decimals of up to fifteen digits are different floats.
    private static func isPlain(_ spelling: some BidirectionalCollection<UInt8>) -> Bool {
        var (digits, zeros, places) = (0, 0, 0)
        var (hasPoint, isZero) = (false, true)
        var last: UInt8 = 0
        for byte in spelling {
            last = byte
            switch byte {
            case UInt8(ascii: "0"):
                digits += 1
                if hasPoint, isZero { zeros += 1 }
            case UInt8(ascii: "1")...UInt8(ascii: "9"):
                digits += 1
                isZero = false
            case UInt8(ascii: "."): hasPoint = true
            case UInt8(ascii: "-"): break
            default: return false
            }
            if hasPoint { places += 1 }
        }
        guard !isZero else { return spelling.elementsEqual("0".utf8) }
        if !hasPoint { return true }
        return digits <= 15 && zeros < 4 && (last != UInt8(ascii: "0") || places == 2)
    }
}

// MARK: - JSON

extension HTTPResponse {
    /// A JSON response in CouchDB's spelling, with a line break at the end.
    static func json(_ value: JSONValue, status: Int = 200, headers: HTTPHeaders = HTTPHeaders()) -> HTTPResponse {
        json(bytes: WireJSON.bytes(value), status: status, headers: headers)
    }

    /// A response of printed JSON.
    static func json(
        bytes: [UInt8], status: Int = 200, headers: HTTPHeaders = HTTPHeaders()
    ) -> HTTPResponse {
        var response = HTTPResponse(status: status, headers: headers, body: .bytes(bytes + [UInt8(ascii: "\n")]))
        if response.headers["Content-Type"] == nil { response.headers["Content-Type"] = "application/json" }
        if response.headers["Cache-Control"] == nil { response.headers["Cache-Control"] = "must-revalidate" }
        return response
    }

    /// A response of printed JSON with contents that are read while it is sent.
    static func json(
        text: WireText, _ source: any DocumentSource, headers: HTTPHeaders = HTTPHeaders()
    ) throws -> HTTPResponse {
        if text.contents.isEmpty { return json(bytes: text.bytes, headers: headers) }
        var text = text
        text += [UInt8(ascii: "\n")]
        return json(stream: TextStream(text, try source.database), headers: headers)
    }

    /// The response `{"ok":true}`.
    static func ok(status: Int = 200) -> HTTPResponse { json(["ok": true], status: status) }

    /// An error in CouchDB's form.
    static func error(_ error: HTTPError) -> HTTPResponse {
        json(
            ["error": .string(error.error), "reason": .string(error.reason)], status: error.status,
            headers: error.headers)
    }

    /// A JSON response that is produced while it is sent.
    static func json(stream: any ResponseStream, headers: HTTPHeaders = HTTPHeaders()) -> HTTPResponse {
        var response = HTTPResponse(status: 200, headers: headers, body: .stream(stream, length: nil))
        response.headers["Content-Type"] = "application/json"
        response.headers["Cache-Control"] = "must-revalidate"
        return response
    }
}

/// Sends one text.
private final class TextStream: ResponseStream {
    private let pieces: Guarded<TextPieces>

    init(_ text: WireText, _ database: Database) { pieces = Guarded(TextPieces(text, database)) }

    func next() throws -> ResponseStep { try pieces.withLock { try $0.read().map { .piece($0) } ?? .end } }
}
