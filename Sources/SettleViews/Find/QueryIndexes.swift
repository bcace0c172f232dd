import RevisionTree
package import SettleDatabase
internal import SettlePlatform

/// The indexes that the design documents of a database define, remembered while none of them changes.
package final class QueryIndexes: Sendable {
    /// What the names of the files of those of members begin with.
    static let filePrefix = "find-"

    private struct State {
        var age: UInt64?
        var indexes: [QueryIndex] = []
    }

    private let state = Guarded(State())

    private init() {}

    /// The indexes, in the order of their design documents' ids and of their names, the list of all documents first.
    ///
    /// - Throws: ``DatabaseError``.
    package static func all(in database: Database) throws -> [QueryIndex] {
        let own = database.companion(QueryIndexes.self) { QueryIndexes() }
        // Taken before they are read: what is written meanwhile makes it old.
        let age = database.designEpoch
        if let known = own.state.withLock({ $0.age == age ? $0.indexes : nil }) { return known }
        try Waiting.check()
        var found = [QueryIndex.allDocuments]
        var range = DocumentRange(
            from: DocumentID(unchecked: "_design/"), before: DocumentID(unchecked: "_design0"))
        while case let page = try database.records(in: range, limit: 100, withContent: true), let last = page.last {
            for record in page where !record.tree.isDeleted {
                guard let content = record.content else { continue }
                found += indexes(of: content.body, record.id)
            }
            range.after = last.id
        }
        found.sort(by: QueryIndex.isBefore)
        own.state.withLock { ($0.age, $0.indexes) = (age, found) }
        return found
    }

    /// The indexes that a design document defines; none when it is of another language.
    static func indexes(of body: DocumentBody, _ id: DocumentID) -> [QueryIndex] {
        guard body["language"] == "query" else { return [] }
        let isPartitioned = body["options"]?["partitioned"] == true
        let ofMembers = (body["views"]?.object ?? JSONObject()).compactMap {
            QueryIndex($0.value, name: $0.name, of: id, isPartitioned: isPartitioned)
        }
        guard let texts = body["indexes"] else { return ofMembers }
        return ofMembers
            + TextDefinition.all(of: texts, id).map { QueryIndex($0, isPartitioned: isPartitioned) }
    }

    /// The names of the files of all indexes that are defined.
    package static func fileNames(of database: Database) throws -> Set<String> {
        Set(try all(in: database).filter { !$0.isAllDocuments }.map(\.fileName))
    }

    /// Removes the files of indexes that are not defined any more.
    package static func removeOthers(of database: Database) throws {
        let current = try fileNames(of: database)
        IndexFolder.of(database).remove {
            ($0.hasPrefix(filePrefix) || $0.hasPrefix(TextIndex.filePrefix)) && !current.contains($0)
        }
    }
}
