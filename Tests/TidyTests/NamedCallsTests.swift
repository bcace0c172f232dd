import Testing

/// The calls that a text names in code voice with their argument labels, `Type.member(a:b:)`, with their lines.
private func namedCalls(in lines: [String]) -> [(line: Int, call: String)] {
    lines.enumerated().flatMap { number, line -> [(line: Int, call: String)] in
        // Between single backticks: every second part, where a line has no other ones.
        line.replacing("``", with: "").split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
            .filter { isCall($0) }.map { (number + 1, $0) }
    }
}

/// Whether a text is a type's name, a dot, a member's name, and argument labels.
private func isCall(_ text: String) -> Bool {
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].first?.isUppercase == true, parts[0].allSatisfy({ $0.isLetter }) else {
        return false
    }
    let rest = parts[1].split(separator: "(", maxSplits: 1, omittingEmptySubsequences: false)
    guard rest.count == 2, rest[0].first?.isLowercase == true, rest[0].allSatisfy({ $0.isLetter }) else { return false }
    let labels = rest[1]
    return labels == ")" || (labels.hasSuffix(":)") && labels.allSatisfy { $0.isLetter || "_:)".contains($0) })
}

/// Reports calls of types of ours that the list of public declarations does not have.
func namedCallComplaints(in article: SourceFile, declarations: [String]) -> [Complaint] {
    let paths = Set(
        declarations.compactMap { $0.split(separator: " ", maxSplits: 1).last?.split(separator: ": ").first })
    let types = Set(paths.compactMap { $0.split(separator: ".").first })
    return namedCalls(in: article.lines).compactMap { line, call in
        guard let type = call.split(separator: ".").first, types.contains(type) else { return nil }
        return paths.contains(call[...]) ? nil : article.complaint(line, "docs/API.txt has no \(call)")
    }
}

struct NamedCallsTests {
    @Test func `every call of ours that an article names is declared`() throws {
        let files = Repository.shared.files
        let list = try #require(Repository.shared.file("docs/API.txt"), "run `make api`")
        let articles = files.filter { $0.path.contains(".docc/") && $0.path.hasSuffix(".md") }
        #expect(articles.flatMap { namedCalls(in: $0.lines) }.count > 20)
        expectNone(articles.flatMap { namedCallComplaints(in: $0, declarations: list.lines) })
    }

    @Test(arguments: [
        ("| `findAll:` | `Database.find(_:)` | |", 0), ("`Database.seek(_:)` and ``Database/find(_:)``", 1),
        ("`Database.find(of:)`", 1), ("`Other.find(of:)`", 0), ("`database.find(query)`", 0), ("`Database.close()`", 1),
    ])
    func `a call that is not declared is found`(line: String, count: Int) {
        let file = SourceFile(path: "Sources/A/A.docc/A.md", text: "\(line)\n")
        let declarations = ["A Database.find(_:): func find(_ a: Int)", "A Database: final class Database"]
        #expect(namedCallComplaints(in: file, declarations: declarations).count == count)
    }
}
