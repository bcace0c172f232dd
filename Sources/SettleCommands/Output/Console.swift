internal import Settle
internal import SettlePlatform

/// The outputs for a command's results, notes and errors, and their format.
///
/// Results go to standard output. Errors and progress go to standard error. Notes are for people and not for scripts;
/// `--quiet` and `--json` suppress them.
final class Console {
    let output: ByteOutput
    let errors: ByteOutput
    /// The terminal of standard output, if any.
    let terminal: Terminal
    /// The terminal of standard error, if any.
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

    /// The width for columns: that of the terminal, or 100.
    var width: Int { terminal.isTerminal ? terminal.width : 100 }

    /// Writes a line of results.
    func print(_ line: String) throws { try output.write(line + "\n") }

    /// Writes a result as text or as JSON.
    func print(_ line: @autoclosure () -> String, json: @autoclosure () -> JSONValue) throws {
        try print(isJSON ? json().description : line())
    }

    /// Prints JSON: on several lines on a terminal, otherwise on one.
    func print(document bytes: [UInt8]) throws {
        if terminal.isTerminal, !isJSON, let value = try? JSONValue(utf8: bytes) {
            return try print(value.prettyPrinted)
        }
        try output.write(bytes + [UInt8(ascii: "\n")])
    }

    /// Prints a note.
    func printNote(_ line: @autoclosure () -> String) throws {
        if !isQuiet, !isJSON { try print(line()) }
    }

    /// Prints an error or a warning.
    func complain(_ message: String, json: @autoclosure () -> JSONValue) {
        let line = isJSON ? json().description : message
        try? errors.write(line + "\n")
        try? errors.flush()
    }

    /// Prints the error that ends the command.
    func complain(_ error: CommandError) {
        complain(
            errorTerminal.styled("settle:", .red) + " " + error.message,
            json: ["error": .string(error.code), "message": .string(error.message)])
    }

    /// Asks the person at the terminal a question with the answers yes and no.
    ///
    /// - Returns: The answer; without a word of one, `unlessAnswered`, and false at the end of the input.
    func asks(_ question: String, unlessAnswered: Bool) -> Bool {
        try? output.flush()
        try? errors.write(question)
        try? errors.flush()
        guard let answer = readLine() else { return false }
        return answer.isEmpty ? unlessAnswered : answer.lowercased().hasPrefix("y")
    }

    /// Text in a style, if standard output shows it.
    func styled(_ text: String, _ style: Style) -> String { terminal.styled(text, style) }
}

/// The kind of an output: a terminal, with or without colors, or a file or pipe.
struct Terminal: Sendable {
    let isTerminal: Bool
    /// Whether to use colors: on a terminal that has them, unless `NO_COLOR` is set.
    let hasColours: Bool
    private let descriptor: Int32

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        isTerminal = isatty(descriptor) == 1
        let isDumb = Self.variable("TERM").map { $0 == "dumb" } ?? true
        hasColours = isTerminal && !isDumb && (Self.variable("NO_COLOR") ?? "").isEmpty
    }

    /// Its current width in columns; 80 if unknown.
    var width: Int {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Text in a style, if there are colors.
    func styled(_ text: String, _ style: Style) -> String {
        hasColours ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}

// MARK: - Style

/// A text style on a terminal: the number of its ANSI style.
enum Style: String, Sendable {
    case bold = "1"
    case faint = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"
    case blue = "36"
}

/// Styles text, if styles are supported.
typealias Styled = (String, Style) -> String
