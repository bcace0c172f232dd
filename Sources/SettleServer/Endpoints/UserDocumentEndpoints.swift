internal import SettleCore
internal import SettleDatabase
internal import SettleReplication

/// Users' documents as others see them.
enum UserDocumentEndpoints {
    /// `GET /_users/{doc}` by somebody who may see the public members only, and any other document as it is.
    static let read: Endpoint = .read { context in
        if let other = try readOther(context) { return other }
        guard context.parameter("db") == "_users", !isOwn(context),
            try !context.sources.security(of: "_users").isAdmin(context.user)
        else { return try DocumentEndpoints.read(context) }
        let found = try DocumentLookup(source: context.source()).winner(DocumentID(unchecked: context.documentID))
        let fields = context.options.security.publicUserFields.subtracting(PasswordHash.memberNames)
            .subtracting(["totp"])
        let members = (try JSONValue(utf8: found.content.body.utf8).object ?? JSONObject())
            .filter { fields.contains($0.name) }.map { ($0.name, $0.value) }
        guard !members.isEmpty else { throw HTTPError.missing }
        let head: [(String, JSONValue)] = [
            ("_id", .string(context.documentID)), ("_rev", .string(found.revision.description)),
        ]
        return .json(.object(JSONObject(head + members)))
    }

    /// `GET /_replicator/{doc}` by somebody whose it is not: without credentials, and without a revision, for it is not the
    /// document as it is; `nil` for anybody else.
    private static func readOther(_ context: any ReadContext) throws -> HTTPResponse? {
        guard ReplicatorDocuments.isReplicator(context.parameter("db")), !context.user.isServerAdmin else { return nil }
        let id = DocumentID(unchecked: context.documentID)
        guard !id.isDesign, !id.isLocal else { return nil }
        let found = try DocumentLookup(source: context.source()).winner(id)
        guard !ReplicatorDocumentRules.owns(found.content.body, context.user) else { return nil }
        let members = ReplicationDocument.withoutCredentials(found.content.body.json.object ?? JSONObject())
        return .json(
            .object(JSONObject([("_id", .string(id.string))] + members.map { ($0.name, $0.value) })))
    }

    private static func isOwn(_ context: any ReadContext) -> Bool {
        context.user.name.map { context.documentID.utf8.elementsEqual((UserDocumentRules.prefix + $0).utf8) } ?? false
    }
}
