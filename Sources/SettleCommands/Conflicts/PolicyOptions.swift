internal import Settle
import SettleDatabase

/// The policy of a command line, with its merge rules.
enum PolicyOptions {
    private static let names = ReadyPolicy.all.map(\.name)
    private static let rules = ReadyRule.all.map(\.name)

    /// The options of every command that uses a policy.
    static let options = [
        Option("--policy", value: "POLICY", "the rule: \(names.joined(separator: ", "))"),
        Option(
            "--merge-rule", value: "PATH=RULE", isRepeatable: true,
            "decide clashes over the member of this JSON pointer by \(rules.joined(separator: ", "))"),
        Option("--on-clash", value: "RULE", "decide all other clashes by this rule (default winner)"),
    ]

    /// Whether a policy or a rule was given.
    static func areGiven(_ arguments: Arguments) -> Bool {
        arguments.text("--policy") != nil || areRulesGiven(arguments)
    }

    private static func areRulesGiven(_ arguments: Arguments) -> Bool {
        !arguments.texts("--merge-rule").isEmpty || arguments.text("--on-clash") != nil
    }

    /// The policy; by default a three-way merge.
    static func policy(_ arguments: Arguments, verb: String) throws -> ConflictPolicy {
        let name = arguments.text("--policy") ?? ReadyPolicy.defaultName
        let policy = ReadyPolicy.named(name)
        if let options = policy?.options {
            let merging = ReadyPolicy.names(with: .rules)
            if options.isEmpty, areRulesGiven(arguments) {
                throw CommandError.usage("rules are for the policy \(merging), \(name) does not merge", verb: verb)
            }
            if !options.contains(.rules), !arguments.texts("--merge-rule").isEmpty {
                throw CommandError.usage(
                    "--merge-rule is for the policy \(merging); \(name) has --on-clash alone", verb: verb)
            }
        }
        let rules = try mergeRules(arguments, verb: verb)
        guard let policy else { throw unknown("policy", name, among: names, verb) }
        return policy.policy(rules)
    }

    /// The policy, for any database.
    static func order(_ arguments: Arguments, verb: String) throws -> SettlementOrder {
        let policy = try policy(arguments, verb: verb)
        var description: JSONObject = ["name": .string(arguments.text("--policy") ?? ReadyPolicy.defaultName)]
        let rules = try arguments.texts("--merge-rule").map { try pair($0, verb: verb) }
        if !rules.isEmpty { description["rules"] = .object(JSONObject(rules.map { ($0.path, .string($0.rule)) })) }
        if let rule = arguments.text("--on-clash") { description["on_clash"] = .string(rule) }
        return SettlementOrder(policy, .object(description))
    }

    /// Refuses policies that depend on where a leaf came from at a server that does not report that.
    static func refuseSides(_ policy: ConflictPolicy, at client: Client) throws {
        if try !client.isAtSettle() { try refuseSides(policy) }
    }

    /// Refuses policies that depend on where a leaf came from.
    static func refuseSides(_ policy: ConflictPolicy) throws {
        guard ReadyPolicy.named(policy.name)?.dependsOnSides == true else { return }
        throw CommandError.usage(
            "\(policy) depends on which leaves were replicated, which the server does not report; settle on this machine"
        )
    }

    static func mergeRules(_ arguments: Arguments, verb: String) throws -> MergeRules {
        var all = MergeRules()
        if let text = arguments.text("--on-clash") {
            guard let rule = ReadyRule.rule(text) else { throw unknown("rule", text, among: rules, verb) }
            all.onClash = rule
        }
        for text in arguments.texts("--merge-rule") {
            let (path, name) = try pair(text, verb: verb)
            guard let rule = ReadyRule.rule(name) else { throw unknown("rule", name, among: rules, verb) }
            guard all[path] == nil else { throw CommandError.usage("\(path) has two rules", verb: verb) }
            all[path] = rule
        }
        if let path = all.badPaths.first {
            let advice =
                path.hasPrefix("/") ? "a ~ in it must be written ~0, and a slash in a name ~1" : "write /\(path)"
            throw CommandError.usage("\"\(path)\" is not a JSON pointer; \(advice)", verb: verb)
        }
        return all
    }

    /// A path and the name of its rule, separated by the last `=` that a rule follows.
    private static func pair(_ text: String, verb: String) throws -> (path: String, rule: String) {
        guard let last = text.lastIndex(of: "=") else {
            throw CommandError.usage("--merge-rule takes PATH=RULE, not \"\(text)\"", verb: verb)
        }
        for index in text.indices.reversed() where text[index] == "=" {
            let name = String(text[text.index(after: index)...])
            if ReadyRule.rule(name) != nil { return (String(text[..<index]), name) }
        }
        throw unknown("rule", String(text[text.index(after: last)...]), among: rules, verb)
    }

    private static func unknown(_ kind: String, _ name: String, among words: [String], _ verb: String) -> CommandError {
        let advice = Suggestion.question(for: name, among: words) ?? "there are \(words.joined(separator: ", "))"
        return .usage("there is no \(kind) \"\(name)\"; \(advice)", verb: verb)
    }
}
