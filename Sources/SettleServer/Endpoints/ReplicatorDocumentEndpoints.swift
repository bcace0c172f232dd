internal import RevisionTree
internal import SettleDatabase
internal import SettleReplication

/// Documents of a replicator's database as others see them.
enum ReplicatorDocumentEndpoints {
    /// `GET /_replicator/{doc}` by somebody whose it is not: without credentials, and without a revision, for it is not the
    /// document as it is; `nil` for anybody else.
    static func readOther(_ context: RequestContext) throws -> HTTPResponse? {
        guard ReplicatorDocuments.isReplicator(context.parameter("db")), !context.user.isServerAdmin else { return nil }
        let id = DocumentID(unchecked: context.documentID)
        guard !id.isDesign, !id.isLocal else { return nil }
        let found = try DocumentLookup(database: context.database()).winner(id)
        guard !ReplicatorDocumentRules.owns(found.content.body, context.user) else { return nil }
        let members = ReplicationDocument.withoutCredentials(found.content.body.json.object ?? JSONObject())
        return .json(
            .object(JSONObject([("_id", .string(id.string))] + members.map { ($0.name, $0.value) })))
    }
}
