import Testing

/// The Swift code blocks of a Markdown text, each with the line its code starts in.
func swiftBlocks(in lines: [String]) -> [(line: Int, body: [String])] {
    var blocks: [(line: Int, body: [String])] = []
    var rest = 0
    while let block = firstSwiftBlock(in: Array(lines[rest...])) {
        blocks.append((rest + block.line, block.body))
        rest += block.line + block.body.count
        if rest >= lines.count { break }
    }
    return blocks
}

/// Reports code in an article that is in no compiled snippet, line by line.
func articleComplaints(_ article: SourceFile, snippets: [SourceFile]) -> [Complaint] {
    swiftBlocks(in: article.lines).compactMap { block in
        let isCompiled = snippets.contains { $0.lines.contains(block.body) }
        return isCompiled ? nil : article.complaint(block.line, "this code is in no file of Snippets: copy it from one")
    }
}

struct ArticleTests {
    @Test func `all code in articles is compiled`() {
        let files = Repository.shared.files
        let articles = files.filter { $0.path.contains(".docc/") && $0.path.hasSuffix(".md") }
        let snippets = files.filter { $0.path.hasPrefix("Snippets/") && $0.path.hasSuffix(".swift") }
        #expect(!articles.isEmpty)
        expectNone(articles.flatMap { articleComplaints($0, snippets: snippets) })
    }

    @Test func `the page on storage engines shows compiled code`() throws {
        let page = try #require(Repository.shared.file("docs/STORAGE_ENGINES.md"))
        let places = ["Tests/SettleDatabaseTests/Storage/MemoryEngine.swift", "Snippets/StorageEngines.swift"]
        expectNone(articleComplaints(page, snippets: places.compactMap { Repository.shared.file($0) }))
    }

    @Test(arguments: [
        ("text\n```swift\nlet b = 2\nlet c = 3\n```\n", []),
        ("```swift\nlet a = 1\nlet c = 3\n```\n", [2]),
        ("```swift\nlet a = 1\n```\n\n```swift\nlet d = 4\n```\nend\n", [6]),
        ("```\nlet d = 4\n```\n", []),
    ])
    func `code without a snippet is found`(article: String, lines: [Int]) {
        let snippet = SourceFile(path: "Snippets/A.swift", text: "let a = 1\nlet b = 2\nlet c = 3\n")
        let file = SourceFile(path: "Sources/A/A.docc/A.md", text: article)
        #expect(articleComplaints(file, snippets: [snippet]).map(\.line) == lines)
    }
}
