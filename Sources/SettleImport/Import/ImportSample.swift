package import SettleCore

/// The first documents of an input, which a person looks at before an import.
///
/// A row is `{"id":…,"rev":…,"deleted":true,"attachments":[…],"doc":{…}}` with what there is. A document for which there
/// is no room left has `"omitted":true` in place of `doc`.
package final class ImportSample {
    /// The most rows.
    private static let most = 5
    /// How many bytes the rows have left.
    private var room = 64 << 10
    /// The rows.
    package private(set) var rows: [JSONValue] = []

    /// Creates an empty sample.
    package init() {}

    func add(_ id: DocumentID, _ revision: RevisionID?, isDeleted: Bool, _ body: DocumentBody, attachments: [String]) {
        guard rows.count < Self.most else { return }
        var row = JSONObject()
        row["id"] = .string(id.string)
        if let revision { row["rev"] = .string(revision.description) }
        if isDeleted { row["deleted"] = true }
        if !attachments.isEmpty { row["attachments"] = .array(attachments.map(JSONValue.string)) }
        let length = JSONValue.object(row).utf8.count
        guard length <= room else { return }
        room -= length
        if body.utf8.count <= room {
            room -= body.utf8.count
            row["doc"] = body.json
        } else {
            row["omitted"] = true
        }
        rows.append(.object(row))
    }
}
