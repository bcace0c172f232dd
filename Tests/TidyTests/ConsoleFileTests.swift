import CZlib
import Foundation
import Testing

/// The files of the console: embedded as they are, small, and nothing in them that the strict policy would stop.
@Suite struct ConsoleFileTests {
    private static let folder = Repository.shared.root.appending(path: "Sources/CConsole/web")

    private static func files() throws -> [(name: String, bytes: Data)] {
        let found = try #require(
            FileManager.default.enumerator(at: folder, includingPropertiesForKeys: [.isRegularFileKey]))
        return try found.compactMap { $0 as? URL }
            .filter { try $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true }
            .map { ($0.path.replacingOccurrences(of: folder.path + "/", with: ""), try Data(contentsOf: $0)) }
            .sorted { $0.0 < $1.0 }
    }

    @Test func `every file is embedded, and no other`() throws {
        let source = try String(
            contentsOf: Self.folder.deletingLastPathComponent().appending(path: "CConsole.c"), encoding: .utf8)
        let embedded = source.matches(of: /#embed "web\/([^"]+)"/).map { String($0.1) }
        #expect(embedded == (try Self.files().map(\.name)), "run Scripts/console/generate.py")
    }

    /// The length that gzip gives a file at the server's level.
    private static func packedCount(_ bytes: Data) throws -> Int {
        let source = [UInt8](bytes)
        var count = compressBound(uLong(source.count))
        var packed = [UInt8](repeating: 0, count: Int(count))
        let status = compress2(&packed, &count, source, uLong(source.count), 8)
        try #require(status == Z_OK)
        // This is zlib's own form; the head and the tail of gzip's are 12 bytes longer.
        return Int(count) + 12
    }

    /// Files and all modules that they import as they begin.
    private static func withImports(_ names: [String], of files: [String: Data]) throws -> Set<String> {
        var found: Set<String> = []
        var left = names
        while let name = left.popLast() {
            guard found.insert(name).inserted, name.hasSuffix(".js") else { continue }
            let bytes = try #require(files[name], "\(name)")
            for match in String(decoding: bytes, as: UTF8.self).matches(of: /(?:from|import) '(\.[^']+)'/) {
                var path = name.split(separator: "/").dropLast()
                for part in match.1.split(separator: "/") where part != "." {
                    if part == ".." { path.removeLast() } else { path.append(part) }
                }
                left.append(path.joined(separator: "/"))
            }
        }
        return found
    }

    @Test func `all files together stay within 140 kB as they are sent, and none has over 400 lines`() throws {
        let files = try Self.files()
        let sum = try files.reduce(0) { try $0 + Self.packedCount($1.bytes) }
        #expect(sum <= 140_000)
        for (name, bytes) in files {
            #expect(bytes.count { $0 == UInt8(ascii: "\n") } <= 400, "\(name)")
        }
    }

    /// What the first page names: sheets, pictures and modules.
    private static func named() throws -> [String] {
        let page = try String(contentsOf: folder.appending(path: "index.html"), encoding: .utf8)
        return page.matches(of: /(?:href|src)="a\/\{hash\}\/([^"]+)"/).map { String($0.1) }
    }

    @Test func `a first visit, with the login and the list of databases, needs at most 40 kB`() throws {
        let files = Dictionary(uniqueKeysWithValues: try Self.files().map { ($0.name, $0.bytes) })
        let pages = ["index.html", "app/pages/login.js", "app/pages/databases.js"]
        let needed = try Self.withImports(try Self.named() + pages, of: files)
        var sum = 0
        for name in needed {
            let bytes = try #require(files[name], "\(name)")
            sum += try Self.packedCount(bytes)
        }
        #expect(needed.count > pages.count)
        #expect(sum <= 40_000)
    }

    @Test func `the first visit needs at most 12 requests`() throws {
        let named = try Self.named()
        let names = Set(try Self.files().map(\.name))
        #expect(named.allSatisfy(names.contains))
        // The page itself, what it names, and the page module that is loaded then.
        #expect(Set(named).count + 2 <= 12)
    }

    @Test func `no file makes HTML of text, runs text, or asks another host`() throws {
        let forbidden = [
            "innerHTML", "outerHTML", "insertAdjacentHTML", "eval(", "new Function", "document.write", " style=",
            "http:", "https:",
            "localStorage.setItem('password", "javascript:",
        ]
        for (name, bytes) in try Self.files() where !name.hasSuffix(".svg") {
            let text = String(decoding: bytes, as: UTF8.self)
            for word in forbidden { #expect(!text.contains(word), "\(name): \(word)") }
            #expect(text.firstMatch(of: /\son[a-z]+="/) == nil, "\(name)")
        }
    }
}
