internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

extension HTTPResponse {
    /// An answer in JSON, in CouchDB's spelling and with a line end.
    static func json(_ value: JSONValue, status: Int = 200, headers: HTTPHeaders = HTTPHeaders()) -> HTTPResponse {
        json(bytes: WireJSON.bytes(value), status: status, headers: headers)
    }

    /// An answer of printed JSON.
    static func json(
        bytes: [UInt8], status: Int = 200, headers: HTTPHeaders = HTTPHeaders()
    ) -> HTTPResponse {
        var response = HTTPResponse(status: status, headers: headers, body: .bytes(bytes + [UInt8(ascii: "\n")]))
        if response.headers["Content-Type"] == nil { response.headers["Content-Type"] = "application/json" }
        if response.headers["Cache-Control"] == nil { response.headers["Cache-Control"] = "must-revalidate" }
        return response
    }

    /// An answer of printed JSON with contents that are read while it is sent.
    static func json(
        text: WireText, _ source: any DocumentSource, headers: HTTPHeaders = HTTPHeaders()
    ) throws -> HTTPResponse {
        if text.contents.isEmpty { return json(bytes: text.bytes, headers: headers) }
        var text = text
        text += [UInt8(ascii: "\n")]
        return json(stream: TextStream(text, try source.database), headers: headers)
    }

    /// The answer `{"ok":true}`.
    static func ok(status: Int = 200) -> HTTPResponse { json(["ok": true], status: status) }

    /// An error in CouchDB's form.
    static func error(_ error: HTTPError) -> HTTPResponse {
        json(
            ["error": .string(error.error), "reason": .string(error.reason)], status: error.status,
            headers: error.headers)
    }

    /// An answer in JSON that is produced while it is sent.
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
