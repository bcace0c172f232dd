internal import SettleCore
internal import SettleDatabase

/// What a replicator asks about revisions.
enum ReplicationEndpoints {
    /// `POST /{db}/_revs_diff`
    static let revisionsDiff: Endpoint = .work { context in
        .json(
            .object(
                JSONObject(
                    try differences(context).map { row in
                        var members: [(String, JSONValue)] = [("missing", .array(row.missing.map(JSONValue.string)))]
                        if !row.ancestors.isEmpty {
                            members.append(
                                ("possible_ancestors", .array(row.ancestors.map { .string($0.description) })))
                        }
                        return (row.id, .object(JSONObject(members)))
                    })))
    }

    /// `POST /{db}/_missing_revs`
    static let missingRevisions: Endpoint = .work { context in
        let rows = try differences(context).map { ($0.id, JSONValue.array($0.missing.map(JSONValue.string))) }
        return .json(["missing_revs": .object(JSONObject(rows))])
    }

    private typealias Row = (id: String, missing: [String], ancestors: [RevisionID])

    private static func differences(_ context: RequestContext) throws -> [Row] {
        try context.requireContentType()
        let database = try context.database()
        let asked = try context.jsonObject().map { ($0.name, try DocumentOptions.revisions($0.value)) }
        let known = try database.revisionsDiff(
            asked.map { (DocumentID(unchecked: $0.0), $0.1.compactMap(\.id)) })
        let byID = Dictionary(known.map { ($0.id, $0) }) { first, _ in first }
        return asked.compactMap { name, revisions in
            let difference = byID[DocumentID(unchecked: name)]
            let missing = Set(difference?.missing ?? [])
            let names = revisions.filter { $0.id.map(missing.contains) ?? true }.map(\.description)
            return names.isEmpty ? nil : (name, names, difference?.possibleAncestors ?? [])
        }
    }
}
