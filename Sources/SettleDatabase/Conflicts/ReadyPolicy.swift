package import SettleCore

/// A ready policy with the name that the command line, the server and the console use for it.
///
/// ``all`` is the only list. The server returns it, the console's forms read it there, and the tool's help and
/// checks use it. To add a policy, add it to an extension of ``ConflictPolicy`` and to this list.
package struct ReadyPolicy: Sendable {
    /// An option that a request may set in addition to the name.
    package enum Option: String, Sendable {
        /// Rules for single members, by JSON pointers.
        case rules
        /// The rule for all other clashes.
        case onClash = "on_clash"
        /// Whether a deletion wins over an edit.
        case deletionsWin = "deletions_win"
    }

    /// Its name: that of its ``ConflictPolicy``.
    package let name: String
    /// A sentence that describes it.
    package let summary: String
    /// The options that a request may set.
    package let options: [Option]
    /// Whether it depends on which leaves were replicated, so that replicas may decide differently.
    package let dependsOnSides: Bool
    /// The names of the policy in other tools, in lower case, without dashes and underscores.
    package let otherNames: [String]
    /// The kinds of conflicts that it decides; empty for a policy that leaves all of them.
    package let decides: Set<ConflictKind>
    private let make: @Sendable (MergeRules, _ deletionsWin: Bool) -> ConflictPolicy

    private init(
        _ name: String, _ summary: String, options: [Option] = [], dependsOnSides: Bool = false,
        decidesNothing: Bool = false,
        otherNames: [String], _ make: @escaping @Sendable (MergeRules, _ deletionsWin: Bool) -> ConflictPolicy
    ) {
        self.name = name
        self.summary = summary
        self.options = options
        self.dependsOnSides = dependsOnSides
        self.otherNames = otherNames
        decides = decidesNothing ? [] : make(MergeRules(), false).kinds
        self.make = make
    }

    /// The ready policies.
    package static let all = [
        ReadyPolicy(
            "keepAll", "Leaves every conflict as it is, until a person decides.", decidesNothing: true,
            otherNames: ["manual", "none"]
        ) { _, _ in .keepAll },
        ReadyPolicy(
            "mostRevisions", "The edit with the most revisions wins, and the others are discarded.",
            otherNames: ["couchdb", "default", "longest", "winner"]
        ) { _, _ in .mostRevisions },
        ReadyPolicy(
            "deletesWin", "A deletion wins over any edit; without one, the edit with the most revisions wins.",
            otherNames: []
        ) { _, _ in .deletesWin },
        ReadyPolicy(
            "localWins", "What was written here wins; for one device and its server.", dependsOnSides: true,
            otherNames: ["mine", "ours"]
        ) { _, _ in .localWins },
        ReadyPolicy(
            "remoteWins", "What was replicated wins; for one device and its server.", dependsOnSides: true,
            otherNames: ["theirs"]
        ) { _, _ in .remoteWins },
        ReadyPolicy(
            "threeWayMerge", "Merges member by member, compared with the common ancestor; rules decide clashes.",
            options: [.rules, .onClash, .deletionsWin], otherNames: ["default"]
        ) { .threeWayMerge($0, deletionsWin: $1) },
        ReadyPolicy(
            "latestAttributeWins",
            "The latest change of each attribute wins, by the clocks in the documents; an edit wins over a deletion.",
            options: [.onClash], otherNames: ["lastwritewins", "lww", "newest"]
        ) { rules, _ in .latestAttributeWins(onClash: rules.onClash) },
        ReadyPolicy(
            "latestDocumentWins",
            "The document that was changed last wins as a whole, by its clocks; a deletion wins over any edit.",
            otherNames: ["lastwritewins", "lww", "newest"]
        ) { _, _ in .latestDocumentWins },
    ]

    /// The policy that is used if a request or a command does not name one.
    package static let defaultName = "threeWayMerge"

    /// The policy with a name; `nil` for an unknown one.
    package static func named(_ name: String) -> ReadyPolicy? { all.first { $0.name == name } }

    /// The reason why the policy can't settle a conflict, as a sentence; `nil` if it may. A policy that depends on where
    /// leaves came from needs leaves of both sides, because the first leaf of a document has no side of its own.
    package func obstacle(to conflict: Conflict) -> String? {
        if decides.isEmpty { return "It leaves every conflict to a person." }
        guard decides.contains(conflict.kind) else {
            let others = Self.all.filter { $0.decides.contains(conflict.kind) }.map(\.name)
            return "It does not decide between a deletion and an edit; these do: \(others.joined(separator: ", "))."
        }
        guard !dependsOnSides || conflict.local != nil && conflict.remote != nil else {
            return "Which leaves were made here is not recorded: all of them arrived in the same way."
        }
        return nil
    }

    /// The names of the policies that have an option, for messages.
    package static func names(with option: Option) -> String {
        all.filter { $0.options.contains(option) }.map(\.name).joined(separator: ", ")
    }

    /// The policy as a value. Arguments that are not among its ``options`` are ignored.
    package func policy(_ rules: MergeRules = MergeRules(), deletionsWin: Bool = false) -> ConflictPolicy {
        make(rules, deletionsWin)
    }
}

// MARK: - ReadyRule

/// A rule for the clashes of a merge, with the name that the command line, the server and the console use for it.
package struct ReadyRule: Sendable {
    /// Its name; a parameter follows a colon: `array:KEY`.
    package let name: String
    /// A sentence that describes it.
    package let summary: String
    private let make: @Sendable (_ parameter: String) -> MergeRule

    private init(_ name: String, _ summary: String, _ make: @escaping @Sendable (_ parameter: String) -> MergeRule) {
        self.name = name
        self.summary = summary
        self.make = make
    }

    /// The rules.
    package static let all = [
        ReadyRule("winner", "Takes the value of the edit that reads show.") { _ in .winner },
        ReadyRule("sum", "Adds up what each edit added to a number.") { _ in .sum },
        ReadyRule("union", "Merges arrays as sets.") { _ in .union },
        ReadyRule("lines", "Merges texts line by line.") { _ in .lines },
        ReadyRule("leave", "Leaves the conflict to a person.") { _ in .leave },
        ReadyRule("array:KEY", "Merges arrays of objects, matched by their member KEY.") { .array(identifiedBy: $0) },
    ]

    /// The rule that a text names, with its parameter; `nil` for an unknown one.
    package static func rule(_ text: String) -> MergeRule? {
        let words = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let found = all.first { rule in
            let own = rule.name.split(separator: ":")
            return own.first == words.first && own.count == words.count
        }
        let parameter = words.count > 1 ? String(words[1]) : nil
        return parameter == "" ? nil : found?.make(parameter ?? "")
    }
}
