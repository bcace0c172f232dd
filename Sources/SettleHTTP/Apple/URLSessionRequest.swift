#if canImport(Darwin) || SETTLE_APPLE
internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Creates the requests of `URLSession`.
enum URLSessionRequest {
    /// A request without its body.
    ///
    /// - Throws: ``TransportError`` with code `badURL`.
    static func make(_ request: HTTPRequest, _ options: TransportOptions) throws(TransportError) -> URLRequest {
        guard let url = URL(string: request.url.text) else {
            throw TransportError(.badURL, "the address at \(request.url.authority) is not accepted")
        }
        var made = URLRequest(url: url)
        // `URLSession` can't switch off the time limit of a request, and Foundation on Linux counts whole seconds.
        let idle = request.idleTimeout ?? .seconds(7 * 24 * 3600)
        made.timeoutInterval = (Double(idle.milliseconds) / 1000).rounded(.up)
        made.httpMethod = request.method
        made.httpShouldHandleCookies = false
        made.setValue(options.userAgent, forHTTPHeaderField: "User-Agent")
        if !request.acceptsCompression { made.setValue("identity", forHTTPHeaderField: "Accept-Encoding") }
        // The system keeps one value per name, so several values are joined.
        var names: Set<String> = []
        for field in request.headers.fields where names.insert(field.name.lowercased()).inserted {
            let separator = field.name.lowercased() == "cookie" ? "; " : ", "
            let value = request.headers.all(field.name).joined(separator: separator)
            made.setValue(value, forHTTPHeaderField: field.name)
        }
        if case .pieces(let length?, _) = request.body.content {
            made.setValue(String(length), forHTTPHeaderField: "Content-Length")
        }
        return made
    }

    /// The whole body, for systems that can't stream it.
    ///
    /// - Throws: ``TransportError`` with code `bodyFailed`.
    static func collected(_ body: HTTPBody) async throws(TransportError) -> Data {
        var all = Data()
        do { for try await piece in body { all.append(contentsOf: piece) } } catch {
            throw TransportError(.bodyFailed, "the body could not be made", cause: error)
        }
        guard body.length.map({ $0 == Int64(all.count) }) ?? true else {
            throw TransportError(
                .bodyFailed, "a body of \(body.length ?? 0) bytes was promised, and \(all.count) came")
        }
        return all
    }
}
#endif
