import Foundation
import Testing

/// The files of the console: the sources are short, what the server delivers is made of them, and nothing in either is what the strict
/// policy would stop.
@Suite struct ConsoleFileTests {
    private static let folder = Repository.shared.root.appending(path: "Sources/CConsole")
    private static let generator = PythonScript(path: "Scripts/console/generate.py")

    /// The files below one of the two folders, `web` and `built`.
    private static func files(_ name: String) throws -> [(name: String, bytes: Data)] {
        let top = folder.appending(path: name)
        let found = try #require(
            FileManager.default.enumerator(at: top, includingPropertiesForKeys: [.isRegularFileKey]))
        return try found.compactMap { $0 as? URL }
            .filter { try $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true }
            .map { ($0.path.replacingOccurrences(of: top.path + "/", with: ""), try Data(contentsOf: $0)) }
            .sorted { $0.0 < $1.0 }
    }

    @Test func `every built file is embedded, and no other`() throws {
        let source = try String(contentsOf: Self.folder.appending(path: "CConsole.c"), encoding: .utf8)
        let embedded = source.matches(of: /#embed "built\/([^"]+)"/).map { String($0.1) }
        #expect(embedded == (try Self.files("built").map(\.name)), "run Scripts/console/generate.py")
    }

    @Test func `what the server delivers was made of the sources that are here`() throws {
        #expect(try Self.generator.run(in: Repository.shared.root, ["--check"]).status == 0)
    }

    @Test func `a change of a source or of a built file is noticed`() throws {
        let root = FileManager.default.temporaryDirectory.appending(path: "settle-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: root) }
        for path in ["Sources/CConsole", "Scripts/console"] {
            let copy = root.appending(path: path)
            try FileManager.default.createDirectory(
                at: copy.deletingLastPathComponent(), withIntermediateDirectories: true)
            try FileManager.default.copyItem(at: Repository.shared.root.appending(path: path), to: copy)
        }
        for path in ["web/app/router.js", "built/app/main.js"] {
            let file = root.appending(path: "Sources/CConsole/" + path)
            let text = try String(contentsOf: file, encoding: .utf8)
            try Data((text + " ").utf8).write(to: file)
            #expect(try Self.generator.run(in: root, ["--check"]).status == 1, "\(path)")
            try Data(text.utf8).write(to: file)
            #expect(try Self.generator.run(in: root, ["--check"]).status == 0, "\(path)")
        }
    }

    // `ConsoleTests` bounds the bytes that the server sends.
    @Test func `no source has over 400 lines`() throws {
        for (name, bytes) in try Self.files("web") {
            #expect(bytes.count { $0 == UInt8(ascii: "\n") } <= 400, "\(name)")
        }
    }

    @Test func `each page is in an area, by its name in addresses`() throws {
        let files = try Self.files("web").map { (name: $0.name, text: String(decoding: $0.bytes, as: UTF8.self)) }
        let list = try #require(files.first { $0.name == "app/areas.js" }?.text)
        let areas = list + files.filter { $0.name.hasPrefix("app/areas/") }.map(\.text).joined()
        let pages = files.map(\.name).filter { $0.hasPrefix("app/pages/") }
        #expect(pages.count > 20)
        for page in pages {
            let name = page.dropFirst("app/pages/".count).dropLast(".js".count)
            #expect(areas.contains("pages/\(name).js'"), "\(page) is in no area")
            #expect(
                list.contains("'\(name)'") || list.contains(" \(name) from './pages/"), "app/areas.js lacks \(name)")
        }
    }

    @Test func `the first visit needs at most 12 requests`() throws {
        let page = try String(contentsOf: Self.folder.appending(path: "built/index.html"), encoding: .utf8)
        let named = page.matches(of: /(?:href|src)="a\/\{hash\}\/([^"]+)"/).map { String($0.1) }
        let names = Set(try Self.files("built").map(\.name))
        #expect(named.contains("app/main.js") && named.allSatisfy(names.contains))
        // The page itself, what it names, the texts of a language, and the drawings.
        #expect(Set(named).count + 3 <= 12)
    }

    /// What makes HTML of text, or runs text.
    private static let running = [
        "innerHTML", "outerHTML", "insertAdjacentHTML", "eval(", "new Function", "document.write", "javascript:",
    ]

    @Test func `no source makes HTML of text, runs text, or asks another host`() throws {
        let forbidden = Self.running + [" style=", "http:", "https:", "localStorage.setItem('password"]
        for (name, bytes) in try Self.files("web") where !name.hasSuffix(".svg") {
            let text = String(decoding: bytes, as: UTF8.self)
            for word in forbidden { #expect(!text.contains(word), "\(name): \(word)") }
            #expect(text.firstMatch(of: /\son[a-z]+="/) == nil, "\(name)")
        }
    }

    @Test func `no built file makes HTML of text or runs text, and none names a map`() throws {
        for (name, bytes) in try Self.files("built") {
            let text = String(decoding: bytes, as: UTF8.self)
            for word in Self.running + ["sourceMappingURL"] { #expect(!text.contains(word), "\(name): \(word)") }
        }
    }
}
