internal import Settle
import SettleServer

/// `settle resolve`: settles conflicts, by a policy or the user's decision.
enum ResolveCommand: Command {
    static let spec = CommandSpec(
        "resolve", "settle the conflict of a document, or all conflicts",
        discussion: """
            The result is written as a child of the winner, unless it is the winner, and every other leaf is closed by \
            a tombstone that names the survivor. Settling the same conflict by the same rule writes the same \
            revisions, so all copies of a database may be settled at once. A conflict that is already settled is not a \
            failure. A failed conflict does not stop the others; the exit code is then 1.
            Rules without a policy mean threeWayMerge. --edit opens the policy's proposal in $VISUAL or $EDITOR, with \
            all versions below. A text that can't be stored is not lost: the message names the file that keeps it.
            """,
        operands: [.database, Operand("ID", isOptional: true, "the id of a document, unless --all is given")],
        options: [Option("--all", "settle every conflict of the database, by a policy")] + PolicyOptions.options + [
            Option("--keep", value: "REV", "keep this leaf; its first digits suffice"),
            Option("--delete", "delete the document"),
            Option("--edit", "edit the resulting document"),
            Option("--dry-run", "show the result and what is lost, without writing it"),
        ],
        examples: [
            CommandSpec.Example("settle resolve groceries milk --policy threeWayMerge", "merges member by member"),
            CommandSpec.Example(
                "settle resolve groceries milk --merge-rule /count=sum --merge-rule /tags=union",
                "with rules for two members"
            ),
            CommandSpec.Example(
                "settle resolve groceries milk --keep 3-825cb35d", "keeps one leaf and closes the others"),
            CommandSpec.Example(
                "settle resolve groceries --all --policy deletesWin --dry-run", "shows the result for all conflicts"),
        ],
        json: """
            {"ok":true,"id":…,"outcome":"settled", "left" or "nothing","rev":survivor or null,"written":[revision …],\
            "superseded":[revision …],"reason":…,"warnings":[text …]}; of --all {"ok":bool,"settled":N,"left":N,"gone":N,\
            "failed":N,"written":N,"races":N,"seconds":N}, for each failure on standard error {"id":…,"error":code,\
            "message":text}; of --edit, if the text was not stored, on standard error {"warning":text}; of --dry-run a line for each conflict as `settle show` writes it
            """)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        let ways = ["--keep", "--delete", "--edit"].filter { arguments.text($0) != nil || arguments.flag($0) }
        for other in ways.dropFirst() { try arguments.refuse(ways[0], with: other) }
        for way in ways where way != "--edit" {
            for option in PolicyOptions.options { try arguments.refuse(way, with: option.name) }
        }
        guard !ways.isEmpty || PolicyOptions.areGiven(arguments) else {
            throw CommandError.usage(
                "choose one of --policy POLICY, --keep REV, --delete or --edit", verb: spec.name)
        }
        let order = try PolicyOptions.order(arguments, verb: spec.name)
        if arguments.flag("--all") {
            if let way = ways.first { try arguments.refuse("--all", with: way) }
            if arguments.optionalOperand("ID") != nil {
                throw CommandError.usage("--all and ID exclude each other", verb: spec.name)
            }
            return try SettlingAll(order: order, console: invocation.console).run(invocation)
        }
        let id = try invocation.documentID()
        switch ways.first {
        case "--keep": return try keep(arguments.text("--keep") ?? "", of: id, invocation)
        case "--delete":
            return try invocation.withClient(warns: false) {
                try settle($0.state(of: id, .bases), by: .delete, "deleted", $0, invocation)
            }
        case "--edit": return try edit(id, order.policy, invocation)
        default:
            return try invocation.withClient(warns: false) {
                try PolicyOptions.refuseSides(order.policy, at: $0)
                return try settle($0.state(of: id, .bases), by: order, nil, $0, invocation)
            }
        }
    }

    private static func keep(_ text: String, of id: DocumentID, _ invocation: Invocation) throws -> ExitStatus {
        try invocation.withClient(warns: false) { client in
            let state = try client.state(of: id, .bases)
            let leaves = try state.conflict()?.leaves.compactMap(\.revision) ?? []
            let prefix = text.hasSuffix("…") ? String(text.dropLast()) : text
            let found = leaves.filter { $0.description.hasPrefix(prefix) && prefix.contains("-") }
            guard leaves.isEmpty || found.count == 1 else {
                let what = found.isEmpty ? "\(text) is not a leaf of the conflict" : "\(text) may be several leaves"
                throw CommandError.invalid("\(what); there are \(leaves.map(\.description).joined(separator: ", "))")
            }
            let order = found.first.map(SettlementOrder.keep) ?? .leave
            return try settle(state, by: order, "\(found.first?.abbreviated ?? "") was kept", client, invocation)
        }
    }

    private static func edit(_ id: DocumentID, _ policy: ConflictPolicy, _ invocation: Invocation) throws -> ExitStatus
    {
        let answer = try ConflictEditing(id: id, invocation: invocation, policy: policy).ask()
        do {
            return try invocation.withClient(warns: false) { client in
                let state = try client.state(of: id, .bases)
                if let answer, let conflict = try state.conflict(),
                    answer.leaves != Set(conflict.leaves.map(\.revision))
                {
                    throw CommandError("conflict", "\"\(id)\" was changed meanwhile; try again", status: .conflict)
                }
                return try settle(
                    state, by: answer?.order ?? .leave, "as edited", text: answer?.file, client, invocation)
            }
        } catch {
            guard let answer else { throw error }
            throw TextEditor.keeping([answer.file], after: error)
        }
    }

    /// Settles the conflict of a document, or shows how. The output says `how` about it, or the reason that the policy
    /// gives. The file of the text that the user has edited stays if there was nothing to settle any more.
    private static func settle(
        _ given: DocumentState, by order: SettlementOrder, _ how: String?, text file: TextEditor? = nil,
        _ client: Client, _ invocation: Invocation
    ) throws -> ExitStatus {
        var state = given
        let (id, policy, console) = (state.id, order.policy, invocation.console)
        guard let conflict = try state.conflict() else {
            if state.tree.isEmpty { throw state.missing }
            try console.print("\(id): not in conflict", json: SettlementJSON.nothing(id))
            if let file { complainOfUnstored(file, "\"\(id)\" was settled meanwhile", console) }
            return .success
        }
        if invocation.arguments.flag("--dry-run") {
            guard let preview = try state.preview(using: policy) else {
                try console.print(undecided(id, policy), json: SettlementJSON.nothing(id))
                return .success
            }
            if console.isJSON {
                let members =
                    ConflictJSON.members(of: conflict, withDocuments: true) + ConflictJSON.members(of: preview, policy)
                try console.print(JSONValue.object(JSONObject(members)).description)
            } else {
                let text = DecisionText(
                    policy: policy, preview: preview, width: console.width, styled: console.styled, reason: how)
                for line in text.lines { try console.print(line) }
            }
            if let file { complainOfUnstored(file, "this was a dry run", console) }
            return .success
        }
        let answer = try client.settle(&state, by: order)
        if !console.isJSON {
            for warning in answer["warnings"]?.array ?? [] { console.complain(warning.string ?? "", json: .null) }
        }
        let reason = how ?? answer["reason"]?.string.map(conflict.abbreviating) ?? "racing answers were merged"
        let text =
            switch answer["outcome"]?.string {
            case "settled":
                "\(id): \(console.styled("settled", .green)) as \(answer["rev"]?.string ?? ""), \(reason)"
            case "left": "\(id): \(console.styled("left in conflict", .red)), \(reason)"
            default: undecided(id, policy)
            }
        try console.print(text, json: answer)
        if let file {
            switch answer["outcome"]?.string {
            case "settled": file.remove()
            case "left": complainOfUnstored(file, "\"\(id)\" was left in conflict", console)
            default: complainOfUnstored(file, "\"\(id)\" was settled meanwhile", console)
            }
        }
        return .success
    }

    /// Says why an edited text was not stored, and where it is.
    private static func complainOfUnstored(_ file: TextEditor, _ reason: String, _ console: Console) {
        let message = "\(reason), so nothing was written; your text is kept in \(file.path)"
        console.complain("settle: \(message)", json: ["warning": .string(message)])
    }

    private static func undecided(_ id: DocumentID, _ policy: ConflictPolicy) -> String {
        "\(id): a deletion and a concurrent edit, which \(policy) leaves; use deletesWin, --keep or --delete"
    }
}
