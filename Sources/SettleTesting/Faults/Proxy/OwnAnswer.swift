/// An answer from the proxy instead of the server.
struct OwnAnswer {
    let status: Int
    let retryAfter: Int?
    let body: Fault.AnswerBody
    let keepsConnection: Bool

    /// The bytes of the answer to a request; without a body for `HEAD`.
    func bytes(to method: String) -> [UInt8] {
        let (phrase, _, _) = Self.words(status)
        let content = content
        var head = "HTTP/1.1 \(status) \(phrase)\r\nContent-Length: \(content.utf8.count)\r\n"
        head += "Content-Type: \(body == .html ? "text/html" : "application/json")\r\n"
        if let retryAfter { head += "Retry-After: \(retryAfter)\r\n" }
        if status == 401 { head += "WWW-Authenticate: Basic realm=\"proxy\"\r\n" }
        if !keepsConnection { head += "Connection: close\r\n" }
        return Array("\(head)\r\n\(method == "HEAD" ? "" : content)".utf8)
    }

    private var content: String {
        let (phrase, error, reason) = Self.words(status)
        switch body {
        case .couchDB: return "{\"error\":\"\(error)\",\"reason\":\"\(reason)\"}\n"
        case .html:
            let title = "\(status) \(phrase)"
            return """
                <html>\r\n<head><title>\(title)</title></head>\r\n<body>\r\n<center><h1>\(title)</h1></center>\r
                <hr><center>proxy</center>\r\n</body>\r\n</html>\r\n
                """
        }
    }

    /// The reason phrase of a status, and CouchDB's name and reason for it.
    private static func words(_ status: Int) -> (phrase: String, error: String, reason: String) {
        switch status {
        case 400: ("Bad Request", "bad_request", "invalid UTF-8 JSON")
        case 401: ("Unauthorized", "unauthorized", "You are not authorized to access this db.")
        case 403: ("Forbidden", "forbidden", "You are not allowed to access this db.")
        case 404: ("Object Not Found", "not_found", "missing")
        case 405: ("Method Not Allowed", "method_not_allowed", "Only GET,HEAD allowed")
        case 406: ("Not Acceptable", "not_acceptable", "No acceptable representation")
        case 408: ("Request Timeout", "timeout", "The request could not be processed in a reasonable amount of time.")
        case 409: ("Conflict", "conflict", "Document update conflict.")
        case 412: ("Precondition Failed", "precondition_failed", "Precondition failed")
        case 413: ("Request Entity Too Large", "too_large", "the request entity is too large")
        case 415: ("Unsupported Media Type", "bad_content_type", "Content-Type must be application/json")
        case 417: ("Expectation Failed", "expectation_failed", "Expectation failed")
        case 429: ("Too Many Requests", "too_many_requests", "Too many requests")
        case 500: ("Internal Server Error", "unknown_error", "undefined")
        case 501: ("Not Implemented", "not_implemented", "Not implemented")
        case 502: ("Bad Gateway", "bad_gateway", "Bad gateway")
        case 503: ("Service Unavailable", "service_unavailable", "Service unavailable")
        case 504: ("Gateway Timeout", "gateway_timeout", "Gateway timeout")
        default: ("Error", "unknown_error", "undefined")
        }
    }
}
