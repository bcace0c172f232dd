internal import Settle
internal import SettlePlatform

/// Settles a conflict in the user's editor. The database is closed meanwhile, so that other processes can use it.
struct ConflictEditing {
    let id: DocumentID
    let invocation: Invocation
    /// The policy that makes the proposal.
    let policy: ConflictPolicy

    /// Asks the user for a resolution, and returns the leaves that were shown; `nil` if there is no conflict.
    func ask() throws -> (leaves: Set<RevisionID?>, resolution: Resolution)? {
        let read = try invocation.withClient(warns: false) { client -> (Conflict, SettlementPreview?)? in
            let state = try client.state(of: id, .bases)
            return try state.conflict().map { ($0, try state.preview(using: policy)) }
        }
        guard let (conflict, preview) = read else { return nil }
        let file = ConflictFile(conflict, preview)
        let editor = try TextEditor(file.text)
        while true {
            do {
                guard let resolution = try file.resolution(from: editor.edit()) else {
                    editor.remove()
                    throw CommandError(
                        "aborted",
                        "the text was not changed, so nothing is written; --policy accepts a proposal unchanged",
                        status: .failure)
                }
                editor.remove()
                return (Set(conflict.leaves.map(\.revision)), resolution)
            } catch let error as CommandError where error.status == .refused {
                guard wantsAnotherTry(error) else {
                    throw CommandError(
                        error.code, "\(error.message); nothing was written, and the text is kept in \(editor.path)",
                        status: error.status)
                }
            }
        }
    }

    /// Prints the error, and on a terminal asks whether to edit again.
    private func wantsAnotherTry(_ error: CommandError) -> Bool {
        let console = invocation.console
        guard isatty(STDIN_FILENO) == 1, console.errorTerminal.isTerminal, !console.isJSON else { return false }
        try? console.errors.write("\(error.message)\nEdit again? [Y/n] ")
        try? console.errors.flush()
        guard let answer = readLine() else { return false }
        return !answer.lowercased().hasPrefix("n")
    }
}

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
