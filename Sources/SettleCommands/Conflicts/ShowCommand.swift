internal import Settle
import SettleCore
import SettleDatabase

/// `settle show`: shows the leaves of a conflict side by side, with a policy's result.
enum ShowCommand: Command {
    static let spec = CommandSpec(
        "show", "show the leaves of a conflict side by side, and preview a resolution",
        discussion: """
            Base, winner and the other leaves are columns, members are rows. · stands for the base's value, — for a \
            missing member, ✕ for a deletion. Below are the policy's decision on each member with its reason, what \
            becomes of the document, what is lost, and the revisions it would write; nothing is written. The default \
            policy is threeWayMerge. A document without a conflict is shown unchanged.
            """,
        operands: [.database, .document],
        options: PolicyOptions.options + [Option("--full", "include equal members, and long values in full")],
        examples: [
            CommandSpec.Example(
                "settle show groceries milk", "shows the changes of each leaf, and the result of a merge"),
            CommandSpec.Example("settle show groceries milk --merge-rule /count=sum", "merges the count as a counter"),
            CommandSpec.Example("settle show groceries milk --policy deletesWin", "uses another policy"),
        ],
        json: """
            {"id":…,"conflict":false,"doc":{…}}, or {"id":…,"conflict":true,"kind":…,"base":{…},"leaves":[{"rev":…,\
            "deleted":bool,"doc":{…}} …],"policy":…,"decision":{"resolution":"keep", "merged", "delete" or "leave",\
            "reason":…,"members":[{"path":…,"base":…,"sides":[{"name":…,"value":…} …],"result":…,"reason":…,\
            "clash":bool,"left":bool} …]},"effect":{"outcome":"keeps", "merges", "deletes" or "leaves","words":…,"rows":[…],\
            "lost":[{"rev":…,"path":…,"kind":"value", "removal", "attachment", "deletion" or "document","value":…} …],\
            "lost_count":N, …},"survivor":revision or null,"writes":[{"rev":…,"parent":…,"deleted":bool,\
            "body":{…}} …]}; a missing value is omitted
            """)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let id = try invocation.documentID()
        let policy = try PolicyOptions.policy(invocation.arguments, verb: spec.name)
        return try invocation.withClient(warns: false) { client in
            try PolicyOptions.refuseSides(policy, at: client)
            let state = try client.state(of: id, .bases)
            guard let conflict = try state.conflict() else { return try show(state, invocation.console) }
            let preview = try state.preview(using: policy)
            if invocation.console.isJSON {
                var members = ConflictJSON.members(of: conflict, withDocuments: true)
                members.insert(("conflict", true), at: 1)
                members += preview.map { ConflictJSON.members(of: $0, policy) } ?? []
                try invocation.console.print(JSONValue.object(JSONObject(members)).description)
            } else {
                try show(conflict, preview, policy, invocation)
            }
            return .success
        }
    }

    private static func show(
        _ conflict: Conflict, _ preview: SettlementPreview?, _ policy: ConflictPolicy, _ invocation: Invocation
    ) throws {
        let console = invocation.console
        let width = console.width
        let leaves = conflict.kind == .branches ? "leaves in conflict" : "leaves, a deletion and a concurrent edit"
        let base =
            switch conflict.missingBase {
            case nil: ""
            case .noCommonRevision: "; they have no common revision"
            case .unknown: "; their base is unknown, because revisions were stemmed"
            case .contentNotKept: "; the body of their base is no longer stored"
            }
        try console.print(console.styled("\(conflict.documentID): \(conflict.leaves.count) \(leaves)\(base)", .bold))
        try console.print("")
        let table = ConflictTable(
            conflict, preview: preview, width: width, isFull: invocation.arguments.flag("--full"),
            styled: console.styled)
        for line in table.lines { try console.print(line) }
        try console.print("")
        guard let preview else {
            let deciding = ReadyPolicy.all.filter { $0.decides.contains(.deletion) }.map(\.name)
            return try console.print(
                "\(policy) does not decide about deletions, so the edit stays; these do: \(deciding.joined(separator: ", "))"
            )
        }
        let text = DecisionText(policy: policy, preview: preview, width: width, styled: console.styled)
        for line in text.lines { try console.print(line) }
    }

    /// Shows a document that is not in conflict.
    private static func show(_ state: DocumentState, _ console: Console) throws -> ExitStatus {
        let id = state.id
        guard let winner = state.tree.winner, let document = state.document(winner.revision) else {
            throw state.missing
        }
        if console.isJSON {
            let line: JSONValue = [
                "id": .string(id.string), "conflict": false, "doc": ConflictJSON.document(document),
            ]
            try console.print(line.description)
        } else {
            let state = document.isDeleted ? "is deleted, and not in conflict" : "is not in conflict"
            try console.printNote(console.styled("\(id) \(state)", .bold))
            try console.print(document: document.wire.bytes(.bodyLate))
        }
        return .success
    }
}
