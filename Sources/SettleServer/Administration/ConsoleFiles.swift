internal import CConsole
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

/// The console's files, which are embedded in the program, and their compressed forms.
///
///     /_utils/                   index.html, never kept by a browser without asking
///     /_utils/a/{hash}/{file}    the others, kept for ever: another content has another hash
struct ConsoleFiles: Sendable {
    /// A file as it is sent.
    struct File: Sendable {
        let bytes: [UInt8]
        /// The content compressed by gzip; `nil` if that is not shorter.
        let compressed: [UInt8]?
        let type: String

        init(_ name: String, _ bytes: [UInt8]) {
            self.bytes = bytes
            type = Self.types[String(name.split(separator: ".").last ?? "")] ?? "application/octet-stream"
            var packed: [UInt8] = []
            let gzip = try? Gzip(.compress)
            try? bytes.withUnsafeBytes { try gzip?.process($0, isLast: true) { packed += Array($0) } }
            compressed = packed.isEmpty || packed.count >= bytes.count ? nil : packed
        }

        private static let types = [
            "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8",
            "css": "text/css; charset=utf-8", "svg": "image/svg+xml",
        ]
    }

    /// The hash of all files, which is a part of their addresses.
    let hash: String
    /// The page itself.
    let index: File
    private let files: [String: File]

    /// Takes the embedded files; in a debug build those of ``ConsoleFolder``'s folder, if one is set.
    init() {
        #if DEBUG
        if let files = ConsoleFolder.files() {
            self.init(files)
            return
        }
        #endif
        var all: [(name: String, bytes: [UInt8])] = []
        for place in 0..<settle_console_count() {
            let file = settle_console_at(place).pointee
            let bytes = Array(UnsafeBufferPointer(start: file.bytes, count: file.length))
            all.append((String(cString: file.name), bytes))
        }
        self.init(all)
    }

    init(_ all: [(name: String, bytes: [UInt8])]) {
        let digest = HashFunction.sha256.hash(all.flatMap { Array($0.name.utf8) + [0] + $0.bytes })
        let hash = Hexadecimal.encode(digest.prefix(8))
        self.hash = hash
        let page = all.first { $0.name == "index.html" }?.bytes ?? []
        let text = String(decoding: page, as: UTF8.self).replacing("{hash}", with: hash)
        index = File("index.html", Array(text.utf8))
        files = Dictionary(all.map { ($0.name, File($0.name, $0.bytes)) }) { first, _ in first }
    }

    /// A file by its name.
    subscript(name: String) -> File? { files[name] }

    /// The names of all files.
    var names: [String] { files.keys.sorted() }
}

// MARK: - ConsoleEndpoints

/// The endpoints of the console: pages that show the server in a browser. The console has no rights beyond its
/// user's, so its files are public.
enum ConsoleEndpoints {
    /// The content security policy of the console: a browser runs and loads only files of this server.
    static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
        form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
        trusted-types 'none'
        """

    /// `GET /_utils/`: the page. A path without the slash is redirected to a relative URL, so that a proxy may add
    /// a prefix.
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
        if let compressed = file.compressed, context.request.acceptsGzip {
            headers["Content-Encoding"] = "gzip"
            return HTTPResponse(status: 200, headers: headers, body: .bytes(compressed))
        }
        return HTTPResponse(status: 200, headers: headers, body: .bytes(file.bytes))
    }

    /// The files, unless the options turn the console off.
    private static func files(_ context: RequestContext) throws -> ConsoleFiles {
        guard let files = context.service(\.console) else { throw HTTPError.missing }
        return files
    }
}
