/// Formats help from the specs of the commands.
enum HelpText {
    /// The text of `settle` without arguments.
    static func overview(styled: Styled = { text, _ in text }) -> String {
        let lines = Columns.aligned(CommandList.specs.map { ($0.name, $0.summary) }, indent: 2)
        var rest = lines[...]
        let groups = CommandList.groups.map { group in
            let own = rest.prefix(group.verbs.count)
            rest = rest.dropFirst(group.verbs.count)
            return "\(styled(group.title, .bold))\n\(own.joined(separator: "\n"))"
        }
        return """
            settle: a JSON document database that syncs

            \(styled("Usage", .bold)): settle COMMAND DB … [options]

            \(groups.joined(separator: "\n\n"))

            \(styled("New here?", .bold))
              settle create groceries
              settle put groceries milk '{"name": "Milk", "count": 1}'
              settle get groceries milk

            `settle help COMMAND` explains a command with examples, `settle help exit-codes` lists the exit codes. The
            simulator is a separate program: `settle-simulate --help`.
            """
    }

    /// The help of a command.
    static func verb(_ spec: CommandSpec, width: Int = 100, styled: Styled = { text, _ in text }) -> String {
        var parts = ["settle \(spec.name): \(spec.summary)", "\(styled("Usage", .bold)): \(spec.usage)"]
        if !spec.discussion.isEmpty {
            parts.append(Columns.wrapped(spec.discussion, width: width).joined(separator: "\n"))
        }
        func list(_ title: String, _ rows: [(String, String)]) {
            if rows.isEmpty { return }
            parts.append(([styled(title, .bold)] + Columns.aligned(rows, indent: 2)).joined(separator: "\n"))
        }
        list("Arguments", spec.operands.map { ($0.name, $0.help) })
        list("Options", (spec.options + Option.common).map { ($0.usage, $0.help) })
        list("Options for a URL", spec.remoteOptions.map { ($0.usage, $0.help) })
        let examples = spec.examples.map { "  \($0.command)\n      \(styled($0.effect, .faint))" }
        parts.append(([styled("Examples", .bold)] + examples).joined(separator: "\n"))
        let json = Columns.wrapped(spec.json, width: width, indent: 2)
        parts.append(([styled("With --json", .bold)] + json).joined(separator: "\n"))
        return parts.joined(separator: "\n\n")
    }

    /// The list of exit codes.
    static func exitCodes(styled: Styled = { text, _ in text }) -> String {
        let rows = ExitStatus.allCases.map { (String($0.rawValue), $0.meaning) }
        return """
            \(styled("Exit codes", .bold))
            \(Columns.aligned(rows, indent: 2).joined(separator: "\n"))

            Errors go to standard error, with --json as {"error":code,"message":text}.
            """
    }
}
