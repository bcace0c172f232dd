import Foundation
import Testing

/// Scripts run as the documents say, and tell what they do.
struct ScriptTests {
    /// The files that name their interpreter. The packager of `Scripts/dist` sets the modes of those there.
    private static let scripts = Repository.shared.files.filter {
        $0.text.hasPrefix("#!") && !$0.path.hasPrefix("Scripts/dist/")
    }

    /// The scripts whose commands the documents name.
    private static let tools = scripts.map(\.path).filter { path in
        path.hasSuffix(".py") && ["Benchmarks/", "Scripts/prove/", "Scripts/live/"].contains { path.hasPrefix($0) }
    }

    @Test func `a script that names its interpreter is executable`() {
        let others = Self.scripts.map(\.path).filter {
            !FileManager.default.isExecutableFile(atPath: Repository.shared.root.appending(path: $0).path)
        }
        #expect(Self.scripts.count > 50 && others.isEmpty, "\(others)")
    }

    @Test(arguments: tools)
    func `the help of a benchmark or a proof begins with what it does`(path: String) throws {
        let text = try #require(Repository.shared.file(path)).text
        let description = try #require(text.split(separator: "\"\"\"", maxSplits: 2).dropFirst().first)
        let (status, output) = try PythonScript(path: path).run(in: Repository.shared.root, ["--help"])
        #expect(status == 0 && output.contains(description.prefix { $0 != "\n" }.prefix(60)), "\(output)")
    }

    @Test(arguments: [
        ("Benchmarks/server/busy_feeds.py --rate -1", "argument --rate"),
        ("Benchmarks/server/load.py --settle true --tests get", "put before it"),
        ("Benchmarks/server/slow_line.py --round-trip x", "argument --round-trip"),
        ("Benchmarks/postgres/kills.py --settle true --restarts 0 --engine file", "nothing would be killed"),
        ("Benchmarks/mobile/litecore.py --crowd -1", "argument --crowd"),
        ("Scripts/live/sync-gateway.py --seeds 0", "argument --seeds"),
    ])
    func `options with which nothing is measured are refused before anything starts`(
        command: String, reason: String
    ) throws {
        let words = command.split(separator: " ").map(String.init)
        let script = PythonScript(path: words[0])
        let (status, output) = try script.run(in: Repository.shared.root, Array(words.dropFirst()))
        #expect(status == 2 && output.contains("error: ") && output.contains(reason), "\(output)")
        #expect(!output.contains("Traceback"), "\(output)")
    }
}
