internal import SettleCore
internal import SettleDatabase

/// A reader outside transactions. Within a request, the sequence, the settings and the document that were read since the
/// request began need no round trip.
final class CurrentReader: PostgresReader {
    private let followed: FollowedState
    private let settings: SettingsCache
    private let pool: PostgresPool

    init(_ database: Int64, _ pool: PostgresPool, _ followed: FollowedState, _ settings: SettingsCache) {
        (self.followed, self.settings, self.pool) = (followed, settings, pool)
        super.init(database, pool)
    }

    override var lastSequence: UpdateSequence {
        get throws { try followed.fresh.map { UpdateSequence($0.sequence) } ?? super.lastSequence }
    }

    override func storedRecord(of id: DocumentID, withContent: Bool) throws -> DocumentRecord? {
        // What is cached with the newest commit as its key must not be older than that.
        guard let ahead = Freshness.request?.take(id, of: database), followed.fresh?.sequence == ahead.sequence.number
        else {
            return try super.storedRecord(of: id, withContent: withContent)
        }
        guard var record = ahead.record, !withContent else { return ahead.record }
        record.content = nil
        return record
    }

    override func sideRecord(_ key: SideRecord.Key) throws -> SideRecord? {
        guard case .setting(let name) = key, let age = followed.fresh?.settingsAge else {
            return try super.sideRecord(key)
        }
        return try settings.values(at: age, pool).values[name].map { .setting(name: name, value: $0) }
    }
}

extension PostgresResult {
    /// The document that was read ahead; `nil` if the database does not exist, or the document is long.
    func readAhead(_ id: DocumentID) -> SharedRequest.Document? {
        guard count == 1 else { return nil }
        let number = integer(0, 6)
        let sequence = UpdateSequence(integer(0, 7))
        if isNull(0, 0) { return SharedRequest.Document(id, nil, edition: 0, of: number, at: sequence) }
        guard !isNull(0, 5), let row = documents(.whole).first else { return nil }
        return SharedRequest.Document(id, row.record, edition: row.edition, of: number, at: sequence)
    }
}

// MARK: - SnapshotReader

/// A reader of one snapshot, in which sequence, settings and the number of documents are read once.
final class SnapshotReader: PostgresReader {
    private let snapshot: SnapshotLink
    private let settings: SettingsCache
    private var counts: [Int]?

    init(_ database: Int64, _ snapshot: SnapshotLink, _ settings: SettingsCache) {
        (self.snapshot, self.settings) = (snapshot, settings)
        super.init(database, snapshot)
    }

    override var lastSequence: UpdateSequence { get throws { UpdateSequence(try snapshot.state.sequence) } }

    override var countsByFlags: [Int] {
        get throws {
            if let counts { return counts }
            let read = try super.countsByFlags
            counts = read
            return read
        }
    }

    override func sideRecord(_ key: SideRecord.Key) throws -> SideRecord? {
        guard case .setting(let name) = key else { return try super.sideRecord(key) }
        let age = try snapshot.state.settingsAge
        return try settings.values(at: age, snapshot).values[name].map { .setting(name: name, value: $0) }
    }
}
