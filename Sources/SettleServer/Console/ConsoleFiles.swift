internal import CConsole
internal import SettleDatabase
internal import SettlePlatform

/// The files of the console, which stand in the program, and their compressed forms.
///
///     /_utils/                   index.html, never kept by a browser without asking
///     /_utils/a/{hash}/{file}    the others, kept for ever: another content has another hash
struct ConsoleFiles: Sendable {
    /// A file as it is sent.
    struct File: Sendable {
        let bytes: [UInt8]
        /// Compressed by gzip; `nil` if that is no shorter.
        let compressed: [UInt8]?
        let type: String

        init(_ name: String, _ source: [UInt8]) {
            bytes = name.hasSuffix(".js") ? Self.withoutComments(source) : source
            type = Self.types[String(name.split(separator: ".").last ?? "")] ?? "application/octet-stream"
            var packed: [UInt8] = []
            let gzip = try? Gzip(.compress)
            try? bytes.withUnsafeBytes { try gzip?.process($0, isLast: true) { packed += Array($0) } }
            compressed = packed.isEmpty || packed.count >= bytes.count ? nil : packed
        }

        /// A module without the comments that fill whole lines, which are for who reads the sources. Its lines keep their
        /// numbers.
        private static func withoutComments(_ source: [UInt8]) -> [UInt8] {
            var isComment = false
            let lines = source.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
                let text = line.drop { $0 == UInt8(ascii: " ") }
                guard isComment || text.starts(with: Array("/**".utf8)) || text.starts(with: Array("//".utf8)) else {
                    return line
                }
                isComment = !text.starts(with: Array("//".utf8)) && !text.reversed().starts(with: Array("/*".utf8))
                return []
            }
            return Array(lines.joined(separator: [UInt8(ascii: "\n")]))
        }

        private static let types = [
            "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8",
            "css": "text/css; charset=utf-8", "svg": "image/svg+xml",
        ]
    }

    /// What stands for all files in their addresses.
    let hash: String
    /// The page itself.
    let index: File
    private let files: [String: File]

    /// The embedded files; in a debug build those of a folder, if ``ConsoleFolder`` has one.
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

    /// The names of all.
    var names: [String] { files.keys.sorted() }
}
