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
