internal import Settle
import SettleDatabase
import SettleServer

/// `settle conflicts`: lists the documents in conflict.
enum ConflictsCommand: Command {
    static let spec = CommandSpec(
        "conflicts", "list the documents in conflict with their leaves",
        discussion: """
            A document is in conflict when two or more of its leaves are live. The winner, which every read shows, is \
            listed first. Each leaf is listed with its changes since the branches parted, or with its differences from \
            the winner if the common revision is unknown or its body no longer stored.
            A deletion and a concurrent edit are not a conflict in CouchDB, where the edit wins; --deletions lists \
            these documents too. CouchDB has no list of conflicts, so the tool reads every document with several leaves \
            there, and CouchDB does not report which leaves were replicated.
            """,
        operands: [.database],
        options: [
            Option("--deletions", "include documents with a deletion and a concurrent edit"),
            Option("--counts", "only the number of each kind"),
            Option("--limit", value: "N", "list at most N documents"),
        ],
        examples: [
            CommandSpec.Example("settle conflicts groceries", "lists the conflicts"),
            CommandSpec.Example("settle conflicts groceries --deletions --counts --json", "counts for a script"),
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
        return try invocation.withClient(warns: false) { client in
            let isCounted = arguments.flag("--counts")
            let kinds: [ConflictKind] = isCounted ? [] : hasDeletions ? ConflictKind.allCases : [.branches]
            let counts = try client.forEachConflict(kinds, isCounted ? .leaves : .bases) { state in
                if left > 0, let conflict = try state.conflict() {
                    try list(conflict, console)
                    left -= 1
                }
                return left > 0
            }
            if isCounted {
                try console.print(
                    summary(counts),
                    json: SettlementJSON.counts(branches: counts.branches, deletions: counts.deletions))
            } else {
                try console.printNote(console.styled(summary(counts), .bold))
            }
            return .success
        }
    }

    private static func list(_ conflict: Conflict, _ console: Console) throws {
        if console.isJSON {
            let members = ConflictJSON.members(of: conflict, withDocuments: false)
            return try console.print(JSONValue.object(JSONObject(members)).description)
        }
        for line in lines(conflict, styled: console.styled) { try console.print(line) }
    }

    private static func lines(_ conflict: Conflict, styled: Styled) -> [String] {
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

    private static func summary(_ counts: Client.ConflictCounts) -> String {
        let branches =
            counts.branches == 0
            ? "No document is in conflict" : "\(Quantity.of(counts.branches, "document")) in conflict"
        if counts.deletions == 0 { return branches }
        return "\(branches); in \(Quantity.grouped(counts.deletions)) there is a deletion and a concurrent edit"
    }
}
