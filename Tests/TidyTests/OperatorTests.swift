import Testing

private let tablePath = "Sources/SettleQuery/Selectors/SelectorOperator.swift"

/// The files that write selectors for typed queries: they name the operators that Swift's own stand for.
private let writers: Set = [
    "Sources/Settle/QueryOperators.swift", "Sources/SettleViews/Fields/QueryCondition.swift",
    "Sources/SettleViews/Fields/QueryField.swift",
]

/// How many files a new operator may touch.
private let maximumFiles = 3

/// The operators that the rows of a table declare.
func operators(in table: SourceFile) -> [String] {
    table.lines.flatMap { line in
        line.matches(of: /(?:comparison|membership|SelectorOperator)\("(\$\w+)"/).map { String($0.1) }
    }
        + zip(table.lines, table.lines.dropFirst()).compactMap { line, next in
            guard line.hasSuffix("SelectorOperator(") else { return nil }
            return next.firstMatch(of: /^ *"(\$\w+)"/).map { String($0.1) }
        }
}

/// Reports operators that too many files name.
func operatorComplaints(_ table: SourceFile, in files: [SourceFile]) -> [Complaint] {
    operators(in: table).compactMap { name in
        let users = files.filter { file in
            !writers.contains(file.path)
                && file.lines.contains { !$0.drop(while: \.isWhitespace).hasPrefix("//") && $0.contains("\"\(name)\"") }
        }
        guard users.count > maximumFiles else { return nil }
        let paths = users.map(\.path).joined(separator: ", ")
        return table.complaint(1, "\(name) stands in \(paths): what depends on an operator is a column of its row")
    }
}

struct OperatorTests {
    @Test func `an operator of selectors is one row of one table`() throws {
        let repository = Repository.shared
        let table = try #require(repository.file(tablePath))
        #expect(operators(in: table).count >= 18)
        expectNone(operatorComplaints(table, in: repository.sources))
    }

    @Test(arguments: [(1, 0), (3, 0), (4, 1)]) func `an operator in too many files is found`(count: Int, expected: Int)
    {
        let table = SourceFile(
            path: tablePath, text: "    comparison(\"$near\", \"~\"),\n    SelectorOperator(\n        \"$far\",\n")
        #expect(operators(in: table) == ["$near", "$far"])
        let files = (0..<count).map { SourceFile(path: "Sources/A/\($0).swift", text: "let name = \"$far\"\n") }
        let comments = [SourceFile(path: "Sources/A/B.swift", text: "/// As \"$far\".\n")]
        #expect(operatorComplaints(table, in: files + comments).count == expected)
    }
}
