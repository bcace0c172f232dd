internal import Settle
internal import SettlePlatform

/// The user's editor, on a temporary file that only the user can read.
struct TextEditor {
    /// The file's path.
    let path: String

    /// Creates a file with a text.
    init(_ text: String) throws {
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
        let status = system("\(editor) '\(path.replacing("'", with: "'\\''"))'")
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

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}
