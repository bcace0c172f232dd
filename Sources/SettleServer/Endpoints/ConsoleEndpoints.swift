internal import SettleDatabase
internal import SettlePlatform

/// The console: pages that show the server in a browser. They have no rights of their own, so anyone may have the files.
enum ConsoleEndpoints {
    /// What a browser may do with the console: run and load what this server sends, and nothing else.
    static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
        form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
        trusted-types 'none'
        """

    /// `GET /_utils/`: the page. Without the slash leads there, relatively, so that a proxy may add a prefix.
    static let page: Endpoint = .work { context in
        let files = try files(context)
        guard context.request.target.rawPath.hasSuffix("/") else {
            return HTTPResponse(status: 301, headers: ["Location": "_utils/", "Cache-Control": "max-age=300"])
        }
        let tag = EntityTag.of(files.hash)
        if let same = EntityTag.notModified(tag, context.request) { return same }
        return answer(files.index, context, ["Cache-Control": "no-cache", "ETag": tag])
    }

    /// `GET /_utils/a/{hash}/{file}`
    static let file: Endpoint = .work { context in
        let files = try files(context)
        let prefix = "a/\(files.hash)/"
        let name = context.parameter("file")
        guard name.hasPrefix(prefix), let file = files[String(name.dropFirst(prefix.count))] else {
            throw HTTPError.missing
        }
        return answer(file, context, ["Cache-Control": "public, max-age=31536000, immutable"])
    }

    private static func answer(
        _ file: ConsoleFiles.File, _ context: RequestContext, _ headers: HTTPHeaders
    ) -> HTTPResponse {
        var headers = headers
        headers["Content-Type"] = file.type
        headers["Vary"] = "Accept-Encoding"
        headers["Content-Security-Policy"] = policy
        headers["Referrer-Policy"] = "no-referrer"
        headers["X-Frame-Options"] = "DENY"
        headers["Cross-Origin-Opener-Policy"] = "same-origin"
        headers["Cross-Origin-Resource-Policy"] = "same-origin"
        if let compressed = file.compressed, acceptsGzip(context.request) {
            headers["Content-Encoding"] = "gzip"
            return HTTPResponse(status: 200, headers: headers, body: .bytes(compressed))
        }
        return HTTPResponse(status: 200, headers: headers, body: .bytes(file.bytes))
    }

    private static func acceptsGzip(_ request: HTTPRequest) -> Bool {
        let given = request.headers["Accept-Encoding"] ?? ""
        return given.split(separator: ",").contains { part in
            let words = part.split(separator: ";").map { String($0).trimmingBlanks() }
            return words.first == "gzip" && !words.dropFirst().contains { ["q=0", "q=0.0"].contains($0) }
        }
    }

    /// The files, unless the options take the console away.
    private static func files(_ context: RequestContext) throws -> ConsoleFiles {
        guard let files = context.service(\.console) else { throw HTTPError.missing }
        return files
    }
}
