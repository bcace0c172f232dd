internal import RevisionTree

extension DocumentEditor {
    /// The same for edits that are nobody's change, such as what settling writes.
    var withoutClocks: DocumentEditor {
        var editor = self
        editor.clocks = nil
        return editor
    }

    /// A body with the moments of its changes against its parent, if the database stamps them; design documents are left
    /// as they are.
    func stamped(
        _ body: DocumentBody, of id: DocumentID, on parent: RevisionID?, isDeleted: Bool, in record: DocumentRecord?
    ) throws -> DocumentBody {
        guard let clocks, !id.isDesign, let moment = try clocks.tick(writer) else { return body }
        var document = try clocked(parent, in: record)
        let members = body.json.object ?? JSONObject()
        if isDeleted { return try DocumentBody(.object(document.tombstone(keeping: members, at: moment))) }
        document.stamp(members, at: moment)
        return try DocumentBody(.object(document.document))
    }

    /// A revision with its clocks; an empty document for none.
    func clocked(_ revision: RevisionID?, in record: DocumentRecord?) throws -> ClockedDocument {
        guard let revision, let node = record?.tree[revision] else { return ClockedDocument(JSONObject()) }
        let body = try content(of: revision, in: record)?.body
        return ClockedDocument(body?.json.object ?? JSONObject(), isDeleted: node.isDeleted)
    }
}
