import Testing

/// Words that names of this project avoid: each has several meanings, and a verb of the field has one.
struct NameRuleTests {
    /// How many functions may be called take, note or tell, which mean anything from dequeuing to logging.
    private static let maximumVague = 10

    @Test func `functions are called by verbs of the field`() {
        let found = Repository.shared.sources.flatMap { file in
            file.code.enumerated().compactMap { number, line in
                line.contains(/\bfunc (?:take|note|tell|told)/)
                    ? file.complaint(
                        number + 1, "say what it does: dequeue, receive, parse, adopt, apply, record, log …")
                    : nil
            }
        }
        if found.count > Self.maximumVague { expectNone(found) }
    }

    @Test func `an upper bound is called maximum`() {
        let found = Repository.shared.sources.flatMap { file in
            file.code.enumerated().compactMap { number, line in
                // A policy whose name CouchDB's rule gave.
                line.contains(/\b(?:let|var) most[A-Z]/) && !line.contains("mostRevisions")
                    ? file.complaint(number + 1, "call it maximum…") : nil
            }
        }
        expectNone(found)
    }

    @Test func `a type outside of others has its name alone, in all targets`() {
        var places: [String: [String: Complaint]] = [:]
        for file in Repository.shared.sources {
            for declaration in declarations(in: file.code)
            where declaration.scopes.isEmpty && Self.kinds.contains(declaration.keyword) {
                places[declaration.name, default: [:]][file.target ?? ""] = file.complaint(
                    declaration.line, "\(declaration.name) is a type of another target, too: say what this one is of")
            }
        }
        expectNone(places.values.filter { $0.count > 1 }.flatMap(\.values))
    }

    private static let kinds: Set = ["struct", "class", "enum", "actor", "protocol"]
}
