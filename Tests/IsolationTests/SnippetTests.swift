import Foundation
import SettleTesting
import Testing

/// The code of the articles, compiled in modules that are isolated to the main actor, prints what the articles say.
@Suite(.timeLimit(.minutes(5)))
struct SnippetTests {
    /// The lines after an arrow, `// → Milk 3`, in their order.
    private func expected(_ name: String) throws -> [String] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let code = try String(contentsOf: root.appending(path: "Snippets/\(name).swift"), encoding: .utf8)
        return code.split(separator: "\n").filter { $0.hasPrefix("// → ") }.map { String($0.dropFirst(5)) }
    }

    @Test(arguments: ["GettingStarted", "EverydayTasks", "SchemaChanges", "Queries"])
    func `an article's code runs where the main actor is the default, and prints what the article says`(
        name: String
    ) throws {
        let (status, output) = try BuiltTool("Isolated" + name).run([])
        #expect(status == 0)
        let wanted = try expected(name)
        #expect(!wanted.isEmpty && output.split(separator: "\n").map(String.init) == wanted)
    }
}
