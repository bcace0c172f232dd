/// Finds how long the body of an answer to `HEAD` would be, where its endpoint makes it while it is sent.
///
/// libmicrohttpd ends such a body with its last chunk even where it sends none, and that would be read as the beginning of
/// the next answer. So its answer says the length, where the body is short; else it ends the connection.
enum HeadLength {
    /// Bodies up to this many bytes are counted.
    private static let most: Int64 = 256 << 10

    /// The response with a body whose length is known, or of which it is known that it is not; ends the stream.
    static func measured(_ response: HTTPResponse) -> HTTPResponse {
        guard case .stream(let stream, nil) = response.body else { return response }
        var response = response
        response.body = .stream(Nothing(), length: length(of: stream))
        return response
    }

    /// The body of an answer that has none.
    private final class Nothing: ResponseStream {
        func next() -> ResponseStep { .end }
    }

    /// The length, or `nil` for a body that is long, waits, or fails.
    private static func length(of stream: any ResponseStream) -> Int64? {
        stream.begin {}
        defer { stream.end() }
        var length: Int64 = 0
        var searches = 0
        while length <= most, searches < 1000 {
            guard let step = try? stream.next() else { return nil }
            switch step {
            case .piece(let bytes):
                length += Int64(bytes.count)
                searches += bytes.isEmpty ? 1 : 0
            case .wait: return nil
            case .end: return length
            }
        }
        return nil
    }
}
