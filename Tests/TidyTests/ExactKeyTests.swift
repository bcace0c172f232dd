import Testing

/// Reports keys of caches with texts that Swift compares by canonical equivalence. Otherwise the entry of one user or
/// document would be another one's, whose name looks the same.
func exactKeyComplaints(in file: SourceFile) -> [Complaint] {
    let keys = declarations(in: file.code).filter { $0.keyword == "struct" && $0.name.hasSuffix("Key") }
    return keys.flatMap { key -> [Complaint] in
        guard file.code[key.line - 1].contains("Hashable") else { return [] }
        return (key.line..<key.lastLine).compactMap { number in
            file.code[number].contains(/\blet \w+: (?:\[|Set<)?String\b/)
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
        ("struct TokenKey: Sendable {\n    let id: String\n}", 0),
        ("struct Key: Hashable {\n    init(_ name: String) {}\n}", 0),
    ])
    func `a key that is compared by canonical equivalence is found`(text: String, count: Int) {
        #expect(exactKeyComplaints(in: SourceFile(path: "Sources/T/A.swift", text: text)).count == count)
    }
}
