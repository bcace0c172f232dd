import Testing

private let longestReadme = 200
private let longestExample = 20
private let snippetPath = "Snippets/ReadmeExample.swift"

/// The first Swift code block of a Markdown text, with the line it starts in.
func firstSwiftBlock(in lines: [String]) -> (line: Int, body: [String])? {
    guard let fence = lines.firstIndex(of: "```swift") else { return nil }
    return (fence + 2, Array(lines[(fence + 1)...].prefix { $0 != "```" }))
}

/// Reports a long README, or one whose example is long or differs from the compiled snippet.
func readmeComplaints(_ readme: SourceFile, snippet: SourceFile) -> [Complaint] {
    var complaints: [Complaint] = []
    if readme.lines.count > longestReadme {
        let advice = "\(readme.lines.count) lines, more than \(longestReadme): move something into docs"
        complaints.append(readme.complaint(longestReadme + 1, advice))
    }
    guard let example = firstSwiftBlock(in: readme.lines) else {
        return complaints + [readme.complaint(1, "show the example of \(snippet.path) in a ```swift block")]
    }
    if example.body != snippet.lines {
        let different = zip(example.body, snippet.lines).prefix { $0 == $1 }.count
        let advice = "differs from \(snippet.path):\(different + 1), which is compiled: make them the same"
        complaints.append(readme.complaint(example.line + different, advice))
    }
    if example.body.count > longestExample {
        let advice = "an example of \(example.body.count) lines: show what matters in \(longestExample)"
        complaints.append(readme.complaint(example.line, advice))
    }
    return complaints
}

struct ReadmeTests {
    @Test func `the README is short and its example is the compiled one`() throws {
        let (writtenReadme, writtenSnippet) = (Repository.shared.file("README.md"), Repository.shared.file(snippetPath))
        let readme = try #require(writtenReadme, "write README.md")
        let snippet = try #require(writtenSnippet, "write \(snippetPath)")
        expectNone(readmeComplaints(readme, snippet: snippet))
    }

    @Test(arguments: [
        ("text\n```swift\nlet a = 1\n```\n", "let a = 1\n", []),
        ("text\n```swift\nlet a = 1\nlet b = 2\n```\n", "let a = 1\nlet b = 3\n", [4]),
        ("```swift\nlet a = 1\n```\n", "let a = 1\nlet b = 2\n", [3]),
        ("text\n```\nlet a = 1\n```\n", "let a = 1\n", [1]),
        ("```swift\n" + String(repeating: "\n", count: 21) + "```\n", String(repeating: "\n", count: 21), [2]),
        ("```swift\n```\n" + String(repeating: "\n", count: 199), "", [201]),
    ])
    func `a drifted or long README is found`(readme: String, snippet: String, lines: [Int]) {
        let complaints = readmeComplaints(
            SourceFile(path: "README.md", text: readme), snippet: SourceFile(path: snippetPath, text: snippet))
        #expect(complaints.map(\.line) == lines)
    }
}
