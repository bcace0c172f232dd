import Foundation
import Testing

/// The list of statements equals the labels in the code.
struct SemanticsTests {
    private static let script = "Scripts/semantics/generate.py"

    private func generate(in root: URL, _ arguments: String...) throws -> (status: Int32, output: String) {
        try PythonScript(path: Self.script).run(in: root, arguments)
    }

    /// A repository of a few files, with the real script.
    private func withRepository(_ files: [String: String], _ body: (URL) throws -> Void) throws {
        let root = FileManager.default.temporaryDirectory.appending(path: "settle-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: root) }
        let script = try #require(Repository.shared.file(Self.script))
        let all = files.merging([Self.script: script.text, "docs/SEMANTICS.md": ""], uniquingKeysWith: { $1 })
        for (path, text) in all {
            let file = root.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        try body(root)
    }

    @Test func `the list of statements is up to date, and each label names one`() throws {
        let check = try generate(in: Repository.shared.root, "--check")
        #expect(check.status == 0, "\(check.output)")
    }

    @Test func `every statement has a row`() throws {
        let list = try #require(Repository.shared.file("docs/SEMANTICS.md"))
        for number in (1...207).map(String.init) + (1...20).map({ "K\($0)" }) {
            let rows = list.lines.count { $0.hasPrefix("| \(number) | ") || $0.hasPrefix("| \(number) ✓ | ") }
            #expect(rows == 1, "\(number)")
        }
    }

    @Test func `code and tests are found by their labels`() throws {
        let files = [
            "Scripts/semantics/statements.txt": "## Head\n1 One.\n2 Two.\n3 Three.\n4 Four.\nK1 Five.\nK2 Six.\n",
            "Sources/A/A.swift": "/// Does (SEMANTICS 1–3,\n/// K1).\nlet a = 1\n",
            "Tests/ATests/BTests.swift": """
            struct BTests {
                // SEMANTICS 2, 4
                @Test func `two | holds`() {
                    // SEMANTICS K1: inside.
                }
            }
            """,
        ]
        try withRepository(files) { root in
            #expect(try generate(in: root, "--check").status == 1)
            #expect(try generate(in: root).status == 0)
            #expect(try generate(in: root, "--check").status == 0)
            let list = try String(contentsOf: root.appending(path: "docs/SEMANTICS.md"), encoding: .utf8)
            let (code, test) = ("[A](../Sources/A/A.swift)", "[BTests](../Tests/ATests/BTests.swift): two \\| holds")
            let rows = [
                "1 | One. | \(code) | –", "2 | Two. | \(code) | \(test)", "3 | Three. | \(code) | –",
                "4 | Four. | – | \(test)", "K1 | Five. | \(code) | \(test)", "K2 | Six. | – | –",
            ]
            for row in rows { #expect(list.contains("\n| \(row) |\n"), "\(row)") }
            #expect(list.contains("\n## Head\n"))
        }
    }

    @Test func `a label proves its statement directly above a test or inside it, and nowhere else`() throws {
        let files = [
            "Scripts/semantics/statements.txt": (1...9).map { "\($0) Says.\n" }.joined(),
            "Tests/ATests/BTests.swift": """
            // SEMANTICS 1: what the file is about.
            /// The suite (SEMANTICS 2).
            @Suite(.serialized)
            struct BTests {
                // SEMANTICS 3: a value of the suite.
                let value = 1

                /// Prepares (SEMANTICS 4).
                private func prepare(_ number: Int) {
                    // SEMANTICS 5
                }

                // SEMANTICS 6
                @Test(arguments: [
                    (1, 2),
                ])
                func `six`(pair: (Int, Int)) async throws {
                    for number in 0..<2 {
                        // SEMANTICS 7
                        prepare(number)
                    }
                }

                // SEMANTICS 8

                @Test func `nine`() {}  // SEMANTICS 9
            }
            """,
            "Tests/TidyTests/FixtureTests.swift": """
            struct FixtureTests {
                // SEMANTICS 1
                @Test func `a fixture`() {}
            }
            """,
        ]
        try withRepository(files) { root in
            #expect(try generate(in: root).status == 0)
            let list = try String(contentsOf: root.appending(path: "docs/SEMANTICS.md"), encoding: .utf8)
            func row(_ number: Int, _ name: String?) -> String {
                let tests = name.map { "[BTests](../Tests/ATests/BTests.swift): \($0)" } ?? "–"
                return "\n| \(number) | Says. | – | \(tests) |"
            }
            let names = [6: "six", 7: "six", 9: "nine"]
            for number in 1...9 { #expect(list.contains(row(number, names[number])), "\(number)") }
        }
    }

    @Test func `a statement that a planted fault tested is marked`() throws {
        let files = [
            "Scripts/semantics/statements.txt": "1 One.\n2 Two.\nK1 Three.\n",
            "Scripts/semantics/faults.txt":
                "# number | file\n\n2 | Sources/A/A.swift | a fault\nK1 | Sources/A/A.swift\n",
        ]
        try withRepository(files) { root in
            #expect(try generate(in: root).status == 0)
            let list = try String(contentsOf: root.appending(path: "docs/SEMANTICS.md"), encoding: .utf8)
            for row in ["1 | One.", "2 ✓ | Two.", "K1 ✓ | Three."] {
                #expect(list.contains("\n| \(row) | – | – |"), "\(row)")
            }
        }
        let unknown = files.merging(["Scripts/semantics/faults.txt": "7 | Sources/A/A.swift\n"]) { $1 }
        try withRepository(unknown) { root in
            let made = try generate(in: root)
            #expect(made.status == 1 && made.output.contains("SEMANTICS 7"))
        }
    }

    @Test func `a label without a statement is reported`() throws {
        let files = ["Scripts/semantics/statements.txt": "1 One.\n", "Sources/A/A.swift": "// SEMANTICS 1, 7\n"]
        try withRepository(files) { root in
            let made = try generate(in: root)
            #expect(made.status == 1 && made.output.contains("SEMANTICS 7"))
        }
    }
}
