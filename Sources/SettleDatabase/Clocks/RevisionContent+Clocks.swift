internal import SettleCore

extension RevisionContent {
    /// The content without the clocks of its changes, which are not part of an operation.
    var withoutClocks: RevisionContent {
        // Most bodies do not contain this character, and need no search.
        guard body.utf8.contains(UInt8(ascii: "$")), body[ClockedDocument.memberName] != nil,
            var members = body.json.object
        else { return self }
        members[ClockedDocument.memberName] = nil
        guard let body = try? DocumentBody(.object(members)) else { return self }
        return RevisionContent(body: body, attachments: attachments)
    }
}
