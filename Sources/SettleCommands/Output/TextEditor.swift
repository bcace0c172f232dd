internal import Settle
internal import SettlePlatform

/// The user's editor, on a temporary file that only the user can read.
struct TextEditor {
    /// The file's path.
    let path: String
    /// The text that the user was given.
    private let original: String

    /// Creates a file with a text.
    init(_ text: String) throws {
        original = text
        let folder = Self.variable("TMPDIR") ?? "/tmp"
        var template = Array("\(folder)/settle-XXXXXX.json".utf8CString)
        let descriptor = mkstemps(&template, 5)
        guard descriptor >= 0 else {
            throw CommandError.inputOutput("can't create a file in \(folder): \(String(cString: strerror(errno)))")
        }
        defer { close(descriptor) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let output = ByteOutput(descriptor: descriptor)
        try output.write(text)
        try output.flush()
    }

    /// Lets the user edit the file, and returns its content.
    ///
    /// The editor is `$VISUAL`, `$EDITOR` or `vi`, and may be given with options.
    func edit() throws -> String {
        let editor = Self.variable("VISUAL") ?? Self.variable("EDITOR") ?? "vi"
        let status = system("\(editor) \(ShellWords.typed(path))")
        guard status == 0 else {
            throw CommandError("editor_failed", "the editor `\(editor)` failed; nothing was written", status: .failure)
        }
        return try text
    }

    /// The content of the file.
    var text: String {
        get throws { String(decoding: try ByteInput.open(path).readAll(), as: UTF8.self) }
    }

    /// Prints the error, and on a terminal asks whether to edit again.
    static func wantsAnotherTry(after error: CommandError, _ console: Console) -> Bool {
        guard isatty(STDIN_FILENO) == 1, console.errorTerminal.isTerminal, !console.isJSON else { return false }
        return console.asks("\(error.message)\nEdit again? [Y/n] ", unlessAnswered: true)
    }

    /// Removes the file.
    func remove() { unlink(path) }

    /// The failure to store an edited text, whose files stay: the message names them.
    ///
    /// A single file is removed if the user has changed nothing.
    static func keeping(_ files: [TextEditor], after error: any Error) -> CommandError {
        let failure = CommandError(error)
        if files.count == 1, (try? files[0].text) == files[0].original {
            files[0].remove()
            return failure
        }
        let paths = files.map(\.path).joined(separator: " and ")
        return CommandError(
            failure.code, "\(failure.message); your text is kept in \(paths)", status: failure.status)
    }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}
