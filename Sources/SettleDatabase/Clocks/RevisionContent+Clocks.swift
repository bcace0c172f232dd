internal import SettleCore

extension RevisionContent {
    /// The content without the moments of its changes: those are stamped by whatever is written, and nobody's operation.
    var withoutClocks: RevisionContent {
        // Most bodies have no such sign, and are not looked through.
        guard body.utf8.contains(UInt8(ascii: "$")), body[ClockedDocument.memberName] != nil,
            var members = body.json.object
        else { return self }
        members[ClockedDocument.memberName] = nil
        guard let body = try? DocumentBody(.object(members)) else { return self }
        return RevisionContent(body: body, attachments: attachments)
    }
}
