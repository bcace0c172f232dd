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

    // `ConsoleTests` bounds their bytes, as the server sends them.
    @Test func `no file has over 400 lines`() throws {
        for (name, bytes) in try Self.files() {
            #expect(bytes.count { $0 == UInt8(ascii: "\n") } <= 400, "\(name)")
        }
    }

    @Test func `the first visit needs at most 12 requests`() throws {
        let page = try String(contentsOf: Self.folder.appending(path: "index.html"), encoding: .utf8)
        let named = page.matches(of: /(?:href|src)="a\/\{hash\}\/([^"]+)"/).map { String($0.1) }
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
