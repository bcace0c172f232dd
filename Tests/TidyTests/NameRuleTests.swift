import Testing

/// Words that names of this project avoid: each has several meanings, and a verb of the field has one.
struct NameRuleTests {
    /// How many functions may be called take, note or tell, which mean anything from dequeuing to logging.
    private static let maximumVague = 10

    @Test func `functions are called by verbs of the field`() {
        let found = Repository.shared.sources.flatMap(vagueNames)
        expectNone(found.count > Self.maximumVague ? found : [])
    }

    private func vagueNames(in file: SourceFile) -> [Complaint] {
        file.code.enumerated().compactMap { number, line in
            line.contains(/\bfunc (?:take|note|tell|told)/)
                ? file.complaint(number + 1, "say what it does: dequeue, receive, parse, adopt, apply, record, log …")
                : nil
        }
    }

    @Test func `an upper bound is called maximum`() {
        expectNone(Repository.shared.sources.flatMap(namesOfBounds))
    }

    private func namesOfBounds(in file: SourceFile) -> [Complaint] {
        file.code.enumerated().compactMap { number, line in
            // A policy whose name CouchDB's rule gave.
            line.contains(/\b(?:let|var) most[A-Z]/) && !line.contains("mostRevisions")
                ? file.complaint(number + 1, "call it maximum…") : nil
        }
    }

    @Test func `a type outside of others has its name alone, in all targets`() {
        expectNone(sharedNames(among: Repository.shared.sources))
    }

    private func sharedNames(among files: [SourceFile]) -> [Complaint] {
        var places: [String: [String: Complaint]] = [:]
        for file in files {
            for declaration in declarations(in: file.code)
            where declaration.scopes.isEmpty && Self.kinds.contains(declaration.keyword) {
                places[declaration.name, default: [:]][file.target ?? ""] = file.complaint(
                    declaration.line, "\(declaration.name) is a type of another target, too: say what this one is of")
            }
        }
        return places.values.filter { $0.count > 1 }.flatMap(\.values)
    }

    @Test(arguments: [
        ("func takeNext() {}", 1), ("    private func note(_ error: any Error) {}", 1), ("func tell() {}", 1),
        ("func dequeue() { taken() }", 0), ("// func take()", 0),
    ])
    func `a vague name of a function is found`(line: String, count: Int) {
        #expect(vagueNames(in: SourceFile(path: "Sources/T/A.swift", text: line)).count == count)
    }

    @Test(arguments: [
        ("private let mostRows = 1", 1), ("var mostAtOnce: Int { 2 }", 1), ("static let mostRevisions = 1", 0),
        ("let maximumRows = 1", 0), ("let almost = 1", 0),
    ])
    func `another name of a bound is found`(line: String, count: Int) {
        #expect(namesOfBounds(in: SourceFile(path: "Sources/T/A.swift", text: line)).count == count)
    }

    @Test(arguments: [
        ("T", "struct Client {}", 0), ("U", "final class Client {}", 2), ("U", "enum Other { struct Client {} }", 0),
    ])
    func `a type of another target's name is found`(target: String, text: String, count: Int) {
        let files = [
            SourceFile(path: "Sources/T/A.swift", text: "struct Client {}"),
            SourceFile(path: "Sources/\(target)/B.swift", text: text),
        ]
        #expect(sharedNames(among: files).count == count)
    }

    private static let kinds: Set = ["struct", "class", "enum", "actor", "protocol"]
}
