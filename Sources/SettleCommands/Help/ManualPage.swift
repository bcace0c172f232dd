/// The manual page `settle(1)`, from the specs of the commands.
enum ManualPage {
    /// The page in the language of `man`.
    static var text: String {
        var lines = [
            ".TH SETTLE 1 \"\" \"settle \(VersionCommand.number)\" \"User Commands\"",
            ".SH NAME", "settle \\- a JSON document database that syncs",
            ".SH SYNOPSIS", ".B settle", "COMMAND DB … [options]",
            ".SH DESCRIPTION",
            escaped("DB is the folder of a database, of which `.settle` is optional, or its URL at a server."),
        ]
        for group in CommandList.groups {
            lines.append(".SH \(group.title.uppercased())")
            for verb in group.verbs { lines += section(verb.spec) }
        }
        lines.append(".SH EXIT STATUS")
        for status in ExitStatus.allCases { lines += item(String(status.rawValue), status.meaning) }
        lines.append(".SH ENVIRONMENT")
        for (name, text) in [
            ("SETTLE_PASSWORD", "the password at a server"), ("SETTLE_TOKEN", "a bearer token for a server"),
            ("NO_COLOR", "switches colors off"),
        ] { lines += item(name, text) }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func section(_ spec: CommandSpec) -> [String] {
        var lines = [".SS \(spec.name)", escaped(spec.summary) + ".", ".PP", ".B \(escaped(spec.usage))"]
        for paragraph in spec.discussion.split(separator: "\n") { lines += [".PP", escaped(String(paragraph))] }
        for operand in spec.operands { lines += item(operand.name, operand.help) }
        for option in spec.allOptions { lines += item(option.usage, option.help) }
        lines += [".PP", "Examples:"]
        for example in spec.examples { lines += item(example.command, example.effect) }
        return lines + [".PP", "With \\-\\-json: " + escaped(spec.json.replacing("\n", with: " "))]
    }

    private static func item(_ title: String, _ text: String) -> [String] {
        [".TP", ".B \(escaped(title))", escaped(text)]
    }

    /// Text in which nothing is a command or an escape. A dash stays a dash, which can be copied.
    private static func escaped(_ text: String) -> String {
        let plain = text.replacing("\\", with: "\\e").replacing("-", with: "\\-").replacing("\"", with: "\\(dq")
        return plain.hasPrefix(".") || plain.hasPrefix("'") ? "\\&\(plain)" : plain
    }
}
