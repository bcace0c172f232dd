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
        let input = try ByteInput.open(path)
        var bytes: [UInt8] = []
        while case let piece = try input.read(), !piece.isEmpty { bytes += piece }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Removes the file.
    func remove() { unlink(path) }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}
