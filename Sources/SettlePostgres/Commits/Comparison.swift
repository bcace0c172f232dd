internal import SettleCore
internal import SettleDatabase

/// Compares the expectations of change sets with the stored state, while the row of the database is locked.
struct Comparison {
    private let sets: [ChangeSet]
    private let database: Int64
    private let documents: [DocumentID]
    private let records: [(kind: RecordKind, keys: [[UInt8]])]
    private let blobs: [BlobDigest]
    private let uploads: [[UInt8]]

    init(_ sets: [ChangeSet], _ database: Int64) {
        (self.sets, self.database) = (sets, database)
        documents = Array(Set(sets.flatMap(\.expected.keys)))
        let places = Set(sets.flatMap(\.seen.keys)).compactMap(\.place)
        records = Dictionary(grouping: places, by: \.kind).map { ($0.key, $0.value.map(\.key)) }
        blobs = Array(
            Set(
                sets.flatMap { set in
                    set.neededBlobs.union(set.newBlobs.values.filter { $0.place != nil }.map(\.digest))
                }))
        uploads = Array(Set(sets.flatMap { $0.newBlobs.values.compactMap(\.place) }))
    }

    /// The queries to send in one round trip with the lock.
    var calls: [PostgresCall] {
        let number = PostgresValue.integer(database)
        var calls: [PostgresCall] = []
        if !documents.isEmpty {
            calls.append(PostgresCall(.editions, number, .byteArrays(documents.map { Array($0.string.utf8) })))
        }
        for (kind, keys) in records {
            calls.append(PostgresCall(.records, number, .short(kind.rawValue), .byteArrays(keys)))
        }
        if !blobs.isEmpty { calls.append(PostgresCall(.blobsThere, number, .byteArrays(blobs.map(\.bytes)))) }
        if !uploads.isEmpty { calls.append(.lock(uploads, of: database)) }
        return calls
    }

    /// The outcome of each set, given the locked row and the results.
    func outcomes(_ state: DatabaseState, _ results: [PostgresResult]) throws -> [CommitOutcome] {
        var rest = results[...]
        var stored: [DocumentID: ChangeSet.Base] = [:]
        if !documents.isEmpty, let rows = rest.popFirst() {
            for row in 0..<rows.count {
                guard let id = rows.id(row, 0) else { continue }
                stored[id] = ChangeSet.Base(
                    sequence: rows.integer(row, 1), edition: rows.integer(row, 2), flags: Int16(rows.integer(row, 3)))
            }
        }
        var side: [SideRecord.Key: SideRecord] = [:]
        for (kind, _) in records {
            for record in try rest.popFirst()?.records(kind) ?? [] { side[record.key] = record }
        }
        let blobsThere = blobs.isEmpty ? [] : Set(rest.popFirst().map { rows in rows.map { rows.bytes($0, 0) } } ?? [])
        let uploadsThere =
            uploads.isEmpty ? [] : Set(rest.popFirst().map { rows in rows.map { rows.bytes($0, 0) } } ?? [])
        return sets.map { set in
            let isStale =
                set.expected.contains { stored[$0.key] ?? ChangeSet.Base() != $0.value }
                || set.seen.contains { side[$0.key] != $0.value }
                || (set.settingsAge ?? state.settingsAge) != state.settingsAge
                || (set.designAge ?? state.designAge) != state.designAge
                || set.neededBlobs.contains { !blobsThere.contains($0.bytes) }
            if isStale { return .stale }
            let lost = set.newBlobs.values.first { blob in
                guard let place = blob.place, !blobsThere.contains(blob.digest.bytes) else { return false }
                return !uploadsThere.contains(place)
            }
            guard let lost else { return .committed }
            return .failed(Self.lost(lost))
        }
    }

    /// The error of a document with an upload that was already collected.
    static func lost(_ blob: BlobRecord) -> DatabaseError {
        DatabaseError(
            .attachmentMissing,
            "the upload of the content \(blob.digest) was given up after ten minutes without its document; attach it again"
        )
    }
}
