import Testing

/// Reports keys of caches with texts that Swift compares by canonical equivalence. Otherwise the entry of one user or
/// document would be another one's, whose name looks the same.
func exactKeyComplaints(in file: SourceFile) -> [Complaint] {
    let keys = declarations(in: file.code).filter { $0.keyword == "struct" && $0.name.hasSuffix("Key") }
    return keys.flatMap { key -> [Complaint] in
        let lines = key.line - 1..<key.lastLine
        guard file.code[lines].prefix(2).contains(where: { $0.contains("Hashable") }) else { return [] }
        return lines.compactMap { number in
            file.code[number].contains(/\b(?:let|var) \w+: (?:\[|Set<)?String\b(?!\W*\{)/)
                ? file.complaint(number + 1, "a key is compared by its bytes: use ExactText in place of String") : nil
        }
    }
}

struct ExactKeyTests {
    @Test func `keys of caches are compared by their bytes`() {
        expectNone(Repository.shared.sources.flatMap(exactKeyComplaints))
    }

    @Test(arguments: [
        ("struct Key: Hashable {\n    let name: String\n}", 1),
        ("private struct CacheKey: Hashable {\n    let name: String?\n    let roles: [String]\n}", 2),
        ("struct Key: Hashable {\n    let name: ExactText\n    let id: DocumentID\n}\nlet name: String", 0),
        ("struct Key: Hashable { let name: String }", 1),
        ("struct Key:\n    Hashable\n{\n    var name: String\n    var text: String { name }\n}", 1),
        ("struct TokenKey: Sendable {\n    let id: String\n}", 0),
        ("struct Key: Hashable {\n    init(_ name: String) {}\n}", 0),
    ])
    func `a key that is compared by canonical equivalence is found`(text: String, count: Int) {
        #expect(exactKeyComplaints(in: SourceFile(path: "Sources/T/A.swift", text: text)).count == count)
    }
}
