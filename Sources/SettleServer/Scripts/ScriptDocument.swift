internal import SettleCore
internal import SettleDatabase

/// Documents as scripts see them.
enum ScriptDocument {
    /// A revision that is to be stored.
    ///
    /// - Parameters:
    ///   - id: The document.
    ///   - history: The path to the revision, or to the one it is made on; none for a new document.
    ///   - isDeleted: Whether it deletes the document.
    ///   - body: The members.
    ///   - attachments: The attachments.
    /// - Returns: Its JSON.
    static func new(
        _ id: DocumentID, history: RevisionHistory?, isDeleted: Bool, _ body: DocumentBody,
        _ attachments: [DocumentAttachment]
    ) -> [UInt8] {
        var bytes = Array("{\"_id\":".utf8)
        JSONValue.append(id.string, to: &bytes)
        if let history { DocumentPrinter.append("_rev", .string(history.revision.description), to: &bytes) }
        let members = body.utf8.dropFirst().dropLast()
        if !members.isEmpty { bytes += [UInt8(ascii: ",")] + members }
        if isDeleted { DocumentPrinter.append("_deleted", true, to: &bytes) }
        if let history {
            bytes += Array(",\"_revisions\":".utf8)
            history.append(to: &bytes)
        }
        if !attachments.isEmpty { DocumentPrinter.append("_attachments", stubs(attachments), to: &bytes) }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    /// A document for map functions: its winner, with the conflicts.
    static func mapped(_ record: DocumentRecord, hasSequence: Bool) -> [UInt8] {
        guard let winner = record.tree.winner, let content = record.content else { return Array("{}".utf8) }
        let body = content.body.utf8
        var bytes: [UInt8] = []
        bytes.reserveCapacity(body.count + 200)
        bytes += Array("{\"_id\":".utf8)
        JSONValue.append(record.id.string, to: &bytes)
        bytes += Array(",\"_rev\":\"".utf8)
        bytes += Array(winner.revision.description.utf8)
        bytes.append(UInt8(ascii: "\""))
        if body.count > 2 {
            bytes.append(UInt8(ascii: ","))
            bytes += body[1..<body.count - 1]
        }
        if hasSequence { DocumentPrinter.append("_local_seq", .number(JSONNumber(record.sequence.number)), to: &bytes) }
        if record.tree.leaves.count > 1 {
            for (name, list) in [
                ("_conflicts", record.tree.conflicts), ("_deleted_conflicts", record.tree.deletedConflicts),
            ] where !list.isEmpty {
                DocumentPrinter.append(name, .array(list.map { .string($0.description) }), to: &bytes)
            }
        }
        if !content.attachments.isEmpty {
            DocumentPrinter.append("_attachments", stubs(content.attachments), to: &bytes)
        }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    private static func stubs(_ attachments: [DocumentAttachment]) -> JSONValue {
        .object(
            JSONObject(
                attachments.map { attachment in
                    let members: [(String, JSONValue)] = [
                        ("content_type", .string(attachment.contentType)),
                        ("revpos", .number(JSONNumber(attachment.revpos))),
                        ("digest", .string(attachment.digest.description)),
                        ("length", .number(JSONNumber(attachment.length))), ("stub", true),
                    ]
                    return (attachment.name, .object(JSONObject(members)))
                }))
    }
}
