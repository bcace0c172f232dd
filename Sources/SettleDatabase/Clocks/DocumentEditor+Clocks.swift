internal import SettleCore

extension DocumentEditor {
    /// The same without clocks, for edits that are not a user's change, such as settling.
    var withoutClocks: DocumentEditor {
        var editor = self
        editor.clocks = nil
        return editor
    }

    /// The body with the clocks of its changes against its parent, if the database stamps them; design documents are
    /// unchanged.
    func stamped(
        _ body: DocumentBody, of id: DocumentID, on parent: RevisionID?, isDeleted: Bool, in record: DocumentRecord?
    ) throws -> DocumentBody {
        guard let clocks, !id.isDesign, let moment = try clocks.tick(writer) else { return body }
        let others = try otherVersions(than: parent, in: record)
        let isRevived = parent.flatMap { record?.tree[$0]?.isDeleted } ?? false
        if !isDeleted, !isRevived, others.isEmpty {
            return try ClockedDocument.stamped(
                body, on: parent.flatMap { try content(of: $0, in: record)?.body }, at: moment)
        }
        var document = try clocked(parent, in: record)
        let members = body.json.object ?? JSONObject()
        if isDeleted {
            return try DocumentBody(.object(document.tombstone(keeping: members, at: moment, inSightOf: others)))
        }
        document.stamp(members, at: moment, inSightOf: others)
        return try DocumentBody(.object(document.document))
    }

    /// The other leaves of a document, whose clocks an edit must exceed.
    private func otherVersions(than parent: RevisionID?, in record: DocumentRecord?) throws -> [ClockedDocument] {
        let leaves = record?.tree.leaves ?? []
        guard leaves.count > 1 else { return [] }
        return try leaves.filter { $0.revision != parent && !$0.marks.contains(.closing) }.map {
            try clocked($0.revision, in: record)
        }
    }

    /// A revision with its clocks; an empty document for `nil`.
    func clocked(_ revision: RevisionID?, in record: DocumentRecord?) throws -> ClockedDocument {
        guard let revision, let node = record?.tree[revision] else { return ClockedDocument(JSONObject()) }
        let body = try content(of: revision, in: record)?.body
        return ClockedDocument(body?.json.object ?? JSONObject(), isDeleted: node.isDeleted)
    }
}
