import Foundation
import Testing

/// Builds that run a part of the tests compile the files of that part.
struct TestSourceTests {
    private func sources(_ filter: String) throws -> (status: Int32, output: String) {
        try PythonScript(path: "Scripts/test-sources.py").run(in: Repository.shared.root, [filter])
    }

    @Test(arguments: ["Scripts/sanitized-suites.txt", "Scripts/stand-in-suites.txt"])
    func `each name in a list of suites selects a test`(list: String) throws {
        let filter = try #require(Repository.shared.file(list)).text.trimmingCharacters(in: .whitespacesAndNewlines)
        let (status, output) = try sources(filter)
        #expect(status == 0 && output.contains("Tests/SettleCoreTests/"), "\(output)")
    }

    @Test func `the file of a suite is compiled with the helpers of its target, and without other tests`() throws {
        let (status, output) = try sources("TidyTests.TestSourceTests|Conversion of numbers")
        let files = Set(output.split { $0.isWhitespace }.map(String.init))
        #expect(status == 0)
        #expect(files.isSuperset(of: ["Tests/TidyTests/TestSourceTests.swift", "Tests/TidyTests/PythonScript.swift"]))
        #expect(!files.contains("Tests/TidyTests/RoomTests.swift"))
        let tested = try files.map { try #require(Repository.shared.file($0)) }.filter { $0.text.contains("@Test ") }
        #expect(tested.count == 2, "\(tested.map(\.path))")
    }

    @Test(arguments: ["NoSuchTests", "TestSourceTests|NoSuchTests", "(TestSourceTests|RoomTests)"])
    func `a name that selects no test is an error`(filter: String) throws {
        let (status, output) = try sources(filter)
        #expect(status == 1)
        #expect(output.contains(filter.contains("(") ? "names with | between them" : "NoSuchTests"), "\(output)")
    }
}
