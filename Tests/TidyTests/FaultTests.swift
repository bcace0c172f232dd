import Foundation
import Testing

/// The planted faults fit the sources, and each has a test that found it.
struct FaultTests {
    private static let script = "Scripts/semantics/faults.py"

    /// Checks the faults of a repository; returns the script's status and complaints.
    private func check(in root: URL) throws -> (status: Int32, complaints: String) {
        let (status, output) = try PythonScript(path: Self.script).run(in: root, ["check"])
        return (status, output)
    }

    /// Checks faults in a repository of one source file and one suite, with the real script.
    private func check(_ faults: String, found: String) throws -> (status: Int32, complaints: String) {
        let root = FileManager.default.temporaryDirectory.appending(path: "settle-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: root) }
        let script = try #require(Repository.shared.file(Self.script))
        let files = [
            Self.script: script.text,
            "Scripts/semantics/faults.txt": faults,
            "Scripts/semantics/faults-found.txt": found,
            "docs/SEMANTICS.md": """
            | 1 | One. | – | [BTests](../Tests/ATests/BTests.swift): one holds |
            | 2 | Two. | – | – |
            """,
            "Sources/A/A.swift": "if a { b() }\nif c {\n    d()\n}\ne()\ne()\n",
            "Tests/ATests/BTests.swift": "@Test func `one holds`() {}\n",
        ]
        for (path, text) in files {
            let file = root.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        return try check(in: root)
    }

    @Test func `each planted fault fits the sources and was found by a test`() throws {
        let check = try check(in: Repository.shared.root)
        #expect(check.status == 0, "\(check.complaints)")
    }

    @Test func `at least 120 statements have a fault`() throws {
        let faults = try #require(Repository.shared.file("Scripts/semantics/faults.txt"))
        #expect(faults.lines.count { $0.first.map { $0.isNumber || $0 == "K" } ?? false } >= 120)
    }

    @Test func `a fault fits that changes text of one line or of several`() throws {
        let one = "1 Sources/A/A.swift\n    - if a {\n    + if a, !FAULT {\n"
        #expect(try check(one, found: "1 one holds\n").status == 0)
        let several = "1 Sources/A/A.swift\n    - if c {\n    - d()\n    + if c, !FAULT {\n    + d()\n"
        #expect(try check(several, found: "1 one holds (never ends)\n").status == 0)
    }

    @Test(arguments: [
        ("1 Sources/A/A.swift\n    - if b\n    + if FAULT\n", "1 one holds\n", "`if b` is there 0 times"),
        ("1 Sources/A/A.swift\n    - e()\n    + FAULT\n", "1 one holds\n", "`e()` is there 2 times"),
        ("1 Sources/A/A.swift\n    - if a\n    + if b\n", "1 one holds\n", "no `+` line says FAULT"),
        ("1 Sources/A/B.swift\n    - if a\n    + if FAULT\n", "1 one holds\n", "there is no Sources/A/B.swift"),
        ("2 Sources/A/A.swift\n    - if a\n    + if FAULT\n", "2 one holds\n", "no suite is named"),
        ("3 Sources/A/A.swift\n    - if a\n    + FAULT\n    ! BTests\n", "3 one holds\n", "no such statement"),
        ("1 Sources/A/A.swift\n    - if a\n    + if FAULT\n    ! CTests\n", "1 one holds\n", "there is no suite"),
        ("1 Sources/A/A.swift\n    - if a\n    + if FAULT\n", "", "faults-found.txt names no test"),
        ("1 Sources/A/A.swift\n    - if a\n    + if FAULT\n", "1 two holds\n", "no suite of the fault has the test"),
        (
            """
            1 Sources/A/A.swift
                - if a {
                + if FAULT {
            2 Sources/A/A.swift
                - a { b() }
                + FAULT
                ! BTests
            """, "1 one holds\n2 one holds\n", "change the same text"
        ),
    ])
    func `a fault that does not fit is reported`(_ faults: String, _ found: String, _ complaint: String) throws {
        let check = try check(faults, found: found)
        #expect(check.status == 1)
        #expect(check.complaints.contains(complaint), "\(check.complaints)")
    }
}
