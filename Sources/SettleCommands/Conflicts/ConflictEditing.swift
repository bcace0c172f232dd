internal import Settle
import SettleCore
import SettleDatabase

/// Settles a conflict in the user's editor. The database is closed meanwhile, so that other processes can use it.
struct ConflictEditing {
    let id: DocumentID
    let invocation: Invocation
    /// The policy that makes the proposal.
    let policy: ConflictPolicy

    /// What the user has decided.
    struct Answer {
        /// The leaves that were shown.
        let leaves: Set<RevisionID?>
        let order: SettlementOrder
        /// The file of the text, which stays until the document is stored.
        let file: TextEditor
    }

    /// Asks the user for a document; `nil` if there is no conflict.
    ///
    /// - Throws: ``CommandError``. If the user has typed something, the message names the file that keeps it.
    func ask() throws -> Answer? {
        let read = try invocation.withClient(warns: false) { client -> (Conflict, SettlementPreview?)? in
            try PolicyOptions.refuseSides(policy, at: client)
            let state = try client.state(of: id, .bases)
            return try state.conflict().map { ($0, try state.preview(using: policy)) }
        }
        guard let (conflict, preview) = read else { return nil }
        let file = ConflictFile(conflict, preview)
        let editor = try TextEditor(file.text)
        let given: SettlementOrder?
        do { given = try edited(file, in: editor) } catch { throw TextEditor.keeping([editor], after: error) }
        guard let order = given else {
            editor.remove()
            throw CommandError(
                "aborted", "the text was not changed, so nothing is written; --policy accepts a proposal unchanged",
                status: .failure)
        }
        return Answer(leaves: Set(conflict.leaves.map(\.revision)), order: order, file: editor)
    }

    /// Lets the user edit a text until it is a document; `nil` if it is unchanged or empty.
    private func edited(_ file: ConflictFile, in editor: TextEditor) throws -> SettlementOrder? {
        while true {
            do { return try file.order(from: editor.edit()) } catch let error as CommandError
                where error.status == .refused
            {
                guard TextEditor.wantsAnotherTry(after: error, invocation.console) else { throw error }
            }
        }
    }
}

// MARK: - ConflictFile

/// The text in which a user settles a conflict: the proposal of a merge, to be edited, and below a line all versions,
/// for reference.
///
///     {
///       "count": 5
///     }
///
///     # ---- Text below this line is ignored ----
///     …
struct ConflictFile {
    /// The line after which the text is ignored.
    static let marker = "# ---- Text below this line is ignored ----"

    private let conflict: Conflict
    private let proposal: JSONValue
    private let notes: [String]

    /// Proposes the policy's result, or the winner if the policy leaves the conflict.
    init(_ conflict: Conflict, _ preview: SettlementPreview?) {
        self.conflict = conflict
        var document = conflict.winner
        var notes: [String] = []
        switch preview?.decision?.resolution {
        case .merged(let body, let attachments)?:
            document = Document(id: conflict.documentID, body: body, attachments: attachments)
        case .document(let result)?: document = result
        case .keep(let revision)?: document = conflict.leaf(revision) ?? document
        case .leaveConflicted?, .delete?, nil: notes.append("There is no proposal, so this is the winner.")
        }
        proposal = .object(EditedText.members(of: document))
        if let decision = preview?.decision, !decision.reason.isEmpty { notes.append("Proposal: \(decision.reason)") }
        notes += (preview?.decision?.attributes ?? []).map { "  \($0.path): \($0.reason)" }
        self.notes = notes
    }

    /// The text for the user to edit.
    var text: String {
        var parts = [
            proposal.prettyPrinted, "",
            Self.marker,
            "# To settle the conflict of \"\(conflict.documentID)\", edit the document above, save and quit.",
            "# If it is unchanged or empty, nothing is written. Attachments missing in _attachments are removed.",
        ]
        parts += notes.map { "# \($0)" }
        func add(_ title: String, _ document: Document) {
            let state = document.isDeleted ? ", deleted" : ""
            parts += ["", "# \(title) \(document.revision?.description ?? "")\(state)"]
            if !document.isDeleted { parts.append(JSONValue.object(EditedText.members(of: document)).prettyPrinted) }
        }
        if let base = conflict.base { add("base", base) }
        for (index, leaf) in conflict.leaves.enumerated() {
            let side = conflict.side(of: leaf).map { ", \($0)," } ?? ""
            add((index == 0 ? "winner" : "other") + side, leaf)
        }
        return parts.joined(separator: "\n") + "\n"
    }

    /// The user's document; `nil` if the text was emptied or left unchanged.
    ///
    /// - Throws: ``CommandError`` with status `refused` for JSON that is not a document.
    func order(from edited: String) throws -> SettlementOrder? {
        let text = EditedText.part(of: edited)
        if text.allSatisfy(\.isWhitespace) { return nil }
        let document: JSONValue
        do { document = try JSONValue(parsing: text) } catch { throw CommandError(error) }
        guard var members = document.object else {
            throw CommandError.invalid("the document must be a JSON object, { … }")
        }
        if document == proposal { return nil }
        let attachments = try attachments(members[WireAttachment.listName])
        members[WireAttachment.listName] = nil
        do { return .edit(try DocumentBody(.object(members)), attachments) } catch {
            throw CommandError(error)
        }
    }

    /// The attachments of the leaves, by name and digest.
    private func attachments(_ value: JSONValue?) throws -> [DocumentAttachment] {
        let all = conflict.leaves.flatMap(\.attachments)
        guard let members = (value ?? [:]).object else { throw CommandError.invalid("_attachments must be an object") }
        return try members.map { member in
            let digest = member.value["digest"]?.string
            let found = all.first { $0.name == member.name && $0.digest.description == digest }
            guard let found else {
                throw CommandError.invalid(
                    "no leaf has an attachment \"\(member.name)\" with the digest \(digest ?? "—")")
            }
            return found
        }
    }
}
