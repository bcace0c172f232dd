internal import Settle
import SettleCore
import SettleDatabase

/// One edit of a document in the user's editor: it reads the document, lets the user edit it, and stores the text.
///
///     read ─▶ edit ─▶ store ─▶ done
///               ▲       │ another revision was stored meanwhile
///               │       ▼
///               │     merge ─▶ store …
///               └───────┘ both changed the same member
struct DocumentEditing {
    /// What an edit has done.
    struct Outcome {
        /// The current revision; `nil` if there is no document.
        var revision: RevisionID?
        var isChanged: Bool
        /// The revisions of others that were merged with the text.
        var merged: [RevisionID] = []
    }

    let id: DocumentID
    let invocation: Invocation
    /// The maximum number of merges with revisions that others store meanwhile.
    private static let maximumMerges = 50

    /// Edits the document.
    ///
    /// - Throws: ``CommandError``. If the user has typed something, the message names the file that keeps it.
    func run() throws -> Outcome {
        let start = try read(after: nil, at: try invocation.revision())
        var files = [try TextEditor(EditedText(id, on: start).text)]
        do {
            let outcome = try edit(start, &files)
            for file in files { file.remove() }
            return outcome
        } catch { throw TextEditor.keeping(files, after: error) }
    }

    private func edit(_ start: Document?, _ files: inout [TextEditor]) throws -> Outcome {
        var base = start
        var merged: [RevisionID] = []
        // A merge that the last file does not show, because it left nothing to decide.
        var unseen: EditMerge?
        guard var text = try ask(files[0], unchanged: EditedText.members(of: base)) else {
            return Outcome(revision: base?.revision, isChanged: false)
        }
        while true {
            do {
                return Outcome(revision: try store(text, on: base), isChanged: true, merged: merged)
            } catch let error as CommandError where error.status == .conflict {
                let stored = try read(after: base?.revision, at: nil)
                guard stored?.revision != base?.revision, merged.count < Self.maximumMerges else { throw error }
                let merge = EditMerge(base: base, mine: text, stored: stored)
                text = merge.members
                if let revision = stored?.revision { merged.append(revision) }
                unseen = merge.isUndecided ? nil : merge
                if merge.isUndecided {
                    report(merge)
                    files.append(try TextEditor(EditedText(id, on: stored, merge).text))
                    text = try ask(files[files.count - 1], unchanged: nil) ?? text
                }
                base = stored
            } catch let error as CommandError where error.status == .refused {
                guard TextEditor.wantsAnotherTry(after: error, invocation.console) else { throw error }
                // Storing a file from before the merge would take the changes of others back.
                if let merge = unseen { files.append(try TextEditor(EditedText(id, on: base, merge).text)) }
                unseen = nil
                text = try ask(files[files.count - 1], unchanged: nil) ?? text
            }
        }
    }

    /// The revision to edit: the given one, or else the leaf that continues `earlier`, or else the winner; `nil` if there is no
    /// document, or it is deleted.
    private func read(after earlier: RevisionID?, at revision: RevisionID?) throws -> Document? {
        try invocation.withClient(warns: false) { client in
            let state = try client.state(of: id)
            if let revision { return try state.document(toEdit: revision) }
            if let earlier, let winner = state.tree.winner, !winner.isDeleted {
                let next = state.tree.leaves.filter { leaf in
                    !leaf.isDeleted && state.tree.history(of: leaf.revision)?.revisions.contains(earlier) == true
                }
                if !next.contains(where: { $0.revision == winner.revision }), let leaf = next.first {
                    return state.document(leaf.revision)
                }
            }
            return state.shown
        }
    }

    /// Lets the user edit a text until it is a document; `nil` if it is unchanged.
    private func ask(_ file: TextEditor, unchanged: JSONObject?) throws -> JSONObject? {
        while true {
            let text = EditedText.part(of: try file.edit())
            do {
                if text.allSatisfy(\.isWhitespace) {
                    throw CommandError("aborted", "the text is empty, so nothing was written", status: .failure)
                }
                let given = try JSONValue(parsing: text)
                guard let members = given.object else {
                    throw CommandError.invalid("the document must be a JSON object, { … }")
                }
                if let unchanged, given == .object(unchanged) { return nil }
                _ = try GivenDocument(given.utf8, id: id)
                return members
            } catch {
                let failure = CommandError(error)
                guard failure.status == .refused,
                    TextEditor.wantsAnotherTry(after: failure, invocation.console)
                else { throw failure }
            }
        }
    }

    private func store(_ members: JSONObject, on base: Document?) throws -> RevisionID {
        let given = try GivenDocument(JSONValue.object(members).utf8, id: id)
        let hadAttachments = base?.attachments.isEmpty == false
        return try invocation.withClient(warns: false) { client in
            try client.save(
                id, given.body, attachments: given.editedAttachments ?? (hadAttachments ? [] : nil), on: base)
        }
    }

    private func report(_ merge: EditMerge) {
        let console = invocation.console
        let what = merge.isDeleted ? "it was deleted meanwhile" : "others changed the same members meanwhile"
        console.complain(
            (["settle: \"\(id)\": \(what); the editor opens again"] + merge.lines.map { "  \($0)" })
                .joined(separator: "\n"),
            json: [
                "warning": "clash", "id": .string(id.string),
                "members": .array(merge.clashes.map { .string($0.path) }),
            ])
    }
}

// MARK: - EditMerge

/// A text that the user typed, merged with a revision that was stored meanwhile.
struct EditMerge {
    /// The merged members; of those that both changed differently, the user's.
    let members: JSONObject
    /// The members that both changed differently.
    let clashes: [MergeDecision]
    let mine: JSONObject
    let stored: Document?

    init(base: Document?, mine: JSONObject, stored: Document?) {
        self.mine = mine
        self.stored = stored
        let before = EditedText.members(of: base)
        let outcome = ThreeWayMerge.merge(
            base: before, versions: [mine, stored.map { EditedText.members(of: $0) } ?? before])
        members = outcome.merged ?? mine
        clashes = outcome.decisions.filter { decision in
            switch decision.reason {
            case .onlyOneChanged, .sameChange, .mergedInside: false
            default: true
            }
        }
    }

    /// Whether the user has to decide.
    var isUndecided: Bool { isDeleted || !clashes.isEmpty }

    /// Whether the document was deleted meanwhile.
    var isDeleted: Bool { stored == nil }

    /// A line for each clash: `/count: 1, yours 2, stored 3`.
    var lines: [String] {
        if isDeleted { return ["storing the text creates the document again"] }
        func text(_ value: JSONValue?) -> String { value?.description ?? "nothing" }
        return clashes.map { clash in
            let values = clash.versions.map(text)
            return "\(clash.path): \(text(clash.base)), yours \(values[0]), stored \(values.last ?? "")"
        }
    }
}

// MARK: - EditedText

/// The text in which a user edits a document; below a line, what is for reference.
struct EditedText {
    private let document: JSONObject
    private var notes: [String]
    private var references: [(title: String, members: JSONObject)] = []

    /// The text of a document, or of one that does not exist yet.
    init(_ id: DocumentID, on base: Document?) {
        document = Self.members(of: base)
        notes = [
            "# To change \"\(id)\", edit the document above, save and quit. If it is unchanged, nothing is written."
        ]
        if base == nil { notes.append("# The document does not exist yet.") }
        if base?.attachments.isEmpty == false {
            notes.append("# Attachments missing in _attachments are removed.")
        }
    }

    /// The text after a merge.
    init(_ id: DocumentID, on stored: Document?, _ merge: EditMerge) {
        document = merge.members
        if merge.isDeleted {
            notes = [
                "# \"\(id)\" was deleted meanwhile. Save and quit to create it again, or empty the text to give up."
            ]
        } else {
            let clashes = merge.clashes.isEmpty ? "" : " Where both changed a member, it has your value:"
            notes = ["# \"\(id)\" was changed meanwhile, and merged above.\(clashes)"]
            notes += merge.lines.map { "#   \($0)" }
        }
        notes.append("# Edit the document above, save and quit to store it, or empty the text to give up.")
        references = [("yours", merge.mine)]
        if let stored { references.append(("stored \(stored.revision?.description ?? "")", Self.members(of: stored))) }
    }

    /// The text for the editor.
    var text: String {
        var lines = [JSONValue.object(document).prettyPrinted, "", ConflictFile.marker] + notes
        for (title, members) in references {
            lines += ["", "# \(title)", JSONValue.object(members).prettyPrinted]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The part of an edited text that is the document.
    static func part(of edited: String) -> String {
        edited.split(separator: "\n", omittingEmptySubsequences: false)
            .prefix { $0.filter { $0 != "\r" } != ConflictFile.marker }.joined(separator: "\n")
    }

    /// The members of a document as the text has them, its attachments among them.
    static func members(of document: Document?) -> JSONObject {
        guard let document else { return JSONObject() }
        var members = document.json
        if !document.attachments.isEmpty {
            members[WireAttachment.listName] = WireAttachment.json(document.attachments.map { $0.wire() })
        }
        return members.object ?? JSONObject()
    }
}
