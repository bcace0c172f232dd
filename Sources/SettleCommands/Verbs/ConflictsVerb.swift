internal import Settle

/// `settle conflicts`: lists the documents in conflict.
enum ConflictsVerb: Verb {
    static let guide = Guide(
        "conflicts", "list the documents in conflict with their leaves",
        discussion: """
            A document is in conflict when two or more of its leaves are live. Its leaves come with the winner first, which \
            every read shows, and with what each changed since the branches parted, or by what it differs from the winner \
            where that revision's body is not kept any more.
            A deletion against an edit made apart from it is no conflict as CouchDB has it, for the edit wins. \
            --deletions lists those too.
            """,
        operands: [.database],
        options: [
            Option("--deletions", "with the documents in which a deletion stands against an edit"),
            Option("--counts", "only how many there are of each kind"),
            Option("--limit", value: "N", "list so many at the most"),
        ],
        examples: [
            Guide.Example("settle conflicts groceries", "shows what there is to settle"),
            Guide.Example("settle conflicts groceries --deletions --counts --json", "counts for a script"),
        ],
        json: """
            one line each: {"id":…,"kind":"branches" or "deletion","base":revision or null,"leaves":[{"rev":…,\
            "deleted":bool,"side":"local" or "remote","differs":[JSON pointer …]} …]}; the sides only if a leaf came from \
            elsewhere, what differs only with a base. Of --counts: {"branches":N,"deletions":N}
            """)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        let console = invocation.console
        var left = try arguments.count("--limit") ?? .max
        let hasDeletions = arguments.flag("--deletions")
        return try invocation.withDatabase { database in
            if !arguments.flag("--counts") {
                for kind in hasDeletions ? ConflictKind.allCases : [.branches] {
                    try list(kind, &left, of: database, console)
                }
                if console.isJSON || console.isQuiet { return .success }
            }
            let info = try database.info()
            if console.isJSON {
                let counts: JSON = [
                    "branches": .number(JSONNumber(info.conflicts)), "deletions": .number(JSONNumber(info.contested)),
                ]
                try console.print(counts.description)
            } else if arguments.flag("--counts") {
                try console.print(summary(info))
            } else {
                try console.note(console.styled(summary(info), .bold))
            }
            return .success
        }
    }

    /// Lists the documents of a kind, a page at a time.
    private static func list(
        _ kind: ConflictKind, _ left: inout Int, of database: Database, _ console: Console
    ) throws {
        var last: DocumentID?
        while left > 0, case let page = try database.conflictedDocumentIDs(kind, after: last, limit: min(left, 500)),
            let newest = page.last
        {
            for id in page {
                guard let conflict = try database.conflict(of: id) else { continue }
                if console.isJSON {
                    let members = ConflictJSON.members(of: conflict, withDocuments: false)
                    try console.print(JSON.object(JSONObject(members)).description)
                } else {
                    for line in lines(conflict, styled: console.styled) { try console.print(line) }
                }
                left -= 1
            }
            last = newest
        }
    }

    private static func lines(_ conflict: Conflict, styled: HelpText.Styled) -> [String] {
        let base = conflict.base?.revision.map { "base \($0.abbreviated)" } ?? "no base"
        let title = "\(styled(conflict.documentID.string, .bold))  \(styled(base, .faint))"
        return [title]
            + conflict.leaves.enumerated().map { index, leaf in
                var words: [String] = []
                if index == 0 { words.append(styled("winner", .green)) }
                if leaf.isDeleted { words.append(styled("deleted by a user", .red)) }
                if let side = conflict.side(of: leaf) { words.append(side) }
                if !leaf.isDeleted { words.append(differences(leaf, index, conflict)) }
                let mark = leaf.isDeleted ? "✕" : "●"
                let revision = leaf.revision?.description ?? ""
                return "  \(mark) \(revision)  \(words.joined(separator: ", "))"
            }
    }

    private static func differences(_ leaf: Document, _ index: Int, _ conflict: Conflict) -> String {
        if let base = conflict.base { return MemberDifference.summary(MemberDifference.between(base, leaf)) }
        if index == 0 { return MemberDifference.summary(MemberDifference.between(Document(id: leaf.id), leaf)) }
        return "against the winner " + MemberDifference.summary(MemberDifference.between(conflict.winner, leaf))
    }

    private static func summary(_ info: DatabaseInfo) -> String {
        let branches =
            info.conflicts == 0
            ? "No document is in conflict" : "\(Quantity.of(info.conflicts, "document")) in conflict"
        if info.contested == 0 { return branches }
        return "\(branches); in \(Quantity.grouped(info.contested)) a deletion stands against an edit"
    }
}
