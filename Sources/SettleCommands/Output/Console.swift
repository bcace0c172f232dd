internal import Settle
internal import SettlePlatform

/// Where a verb's results, notes and errors go, and in which form.
///
/// Results go to standard output. Errors and progress go to standard error. Notes are what a person likes to know and a
/// script does not need; `--quiet` and `--json` leave them out.
final class Console {
    let output: ByteOutput
    let errors: ByteOutput
    /// What is at the end of standard output.
    let terminal: Terminal
    /// What is at the end of standard error.
    let errorTerminal: Terminal
    /// Whether `--json` was given.
    let isJSON: Bool
    /// Whether `--quiet` was given.
    let isQuiet: Bool

    init(isJSON: Bool, isQuiet: Bool, output: Int32 = 1, errors: Int32 = 2) {
        self.isJSON = isJSON
        self.isQuiet = isQuiet
        self.output = ByteOutput(descriptor: output)
        self.errors = ByteOutput(descriptor: errors)
        terminal = Terminal(output)
        errorTerminal = Terminal(errors)
    }

    /// How many columns there are for what is laid out in columns: those of the terminal, 100 elsewhere.
    var width: Int { terminal.isTerminal ? terminal.width : 100 }

    /// Writes a line of results.
    func print(_ line: String) throws { try output.write(line + "\n") }

    /// Writes a result in both forms.
    func print(_ line: @autoclosure () -> String, json: @autoclosure () -> JSON) throws {
        try print(isJSON ? json().description : line())
    }

    /// Writes a value: on several lines for a person, on one for a program.
    func print(document bytes: [UInt8]) throws {
        if terminal.isTerminal, !isJSON, let value = try? JSON(utf8: bytes) {
            return try print(value.prettyPrinted)
        }
        try output.write(bytes + [UInt8(ascii: "\n")])
    }

    /// Writes what a person likes to know.
    func note(_ line: @autoclosure () -> String) throws {
        if !isQuiet, !isJSON { try print(line()) }
    }

    /// Writes a line about what is wrong.
    func complain(_ message: String, json: @autoclosure () -> JSON) {
        let line = isJSON ? json().description : message
        try? errors.write(line + "\n")
        try? errors.flush()
    }

    /// Writes why the verb ends.
    func complain(_ error: CommandError) {
        complain(
            errorTerminal.styled("settle:", .red) + " " + error.message,
            json: ["error": .string(error.code), "message": .string(error.message)])
    }

    /// Text in a style, where standard output shows it.
    func styled(_ text: String, _ style: Style) -> String { terminal.styled(text, style) }
}

/// What is at the other end of an output: a terminal, with or without colours, or a file or pipe.
struct Terminal: Sendable {
    /// Whether a person looks at it.
    let isTerminal: Bool
    /// Whether colours are wanted: on a terminal that has them, unless `NO_COLOR` is set.
    let hasColours: Bool
    private let descriptor: Int32

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        isTerminal = isatty(descriptor) == 1
        let isDumb = Self.variable("TERM").map { $0 == "dumb" } ?? true
        hasColours = isTerminal && !isDumb && (Self.variable("NO_COLOR") ?? "").isEmpty
    }

    /// How many columns it has now; 80 when it does not say.
    var width: Int {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Text in a style, where there are colours.
    func styled(_ text: String, _ style: Style) -> String {
        hasColours ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
