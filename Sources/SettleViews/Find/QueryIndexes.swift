import SettleCore
package import SettleDatabase
internal import SettlePlatform

/// The indexes that the design documents of a database define, cached until one of them changes.
package final class QueryIndexes: Sendable {
    /// The prefix of the file names of member indexes.
    static let filePrefix = "find-"

    private struct State {
        var age: UInt64?
        var indexes: [QueryIndex] = []
    }

    private let state = Guarded(State())

    private init() {}

    /// The indexes, ordered by their design documents' ids and their names, the list of all documents first.
    ///
    /// - Throws: ``DatabaseError``; ``NotAtHand`` if they have to be read and the source must not wait.
    package static func all(in source: any DocumentSource) throws -> [QueryIndex] {
        // Read before the documents, so that a concurrent write invalidates the cache.
        let age = source.designEpoch
        let known = source.known(QueryIndexes.self)?.state.withLock { $0.age == age ? $0.indexes : nil }
        if let known { return known }
        let database = try source.database
        let own = database.companion(QueryIndexes.self) { QueryIndexes() }
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

    /// The indexes that a design document defines; none if it has another language.
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

    /// The file names of all defined indexes.
    package static func fileNames(of database: Database) throws -> Set<String> {
        Set(try all(in: database).filter { !$0.isAllDocuments }.map(\.fileName))
    }

    /// Removes the files of indexes that are no longer defined.
    package static func removeOthers(of database: Database) throws {
        try database.whileOpen {
            let current = try fileNames(of: database)
            IndexFolder.of(database).remove {
                ($0.hasPrefix(filePrefix) || $0.hasPrefix(TextIndex.filePrefix)) && !current.contains($0)
            }
        }
    }
}
