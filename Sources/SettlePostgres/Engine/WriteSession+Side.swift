internal import SettleCore
internal import SettleDatabase

/// Side records in a write.
extension WriteSession {
    func put(_ record: SideRecord) throws {
        changes.count += 1
        switch record {
        case .blob(let blob):
            // The content of an attachment that is there stays as it is, and its row is harmless alone.
            changes.count -= 1
            changes.set.removedBlobs.remove(blob.digest)
            changes.set.newBlobs[blob.digest] = blob
            changes.bytes += blob.content?.count ?? 0
        case .journal: throw Self.withoutJournal
        case .local(let document): changes.set.records[.local(document.id)] = .some(record)
        case .setting(let name, _): changes.set.records[.setting(name)] = .some(record)
        case .expiration(let id, _): changes.set.records[.expiration(id)] = .some(record)
        }
        if case .local(let document) = record { changes.bytes += document.body.utf8.count }
        try changed()
    }

    func remove(_ key: SideRecord.Key) throws {
        changes.count += 1
        switch key {
        case .blob(let digest):
            changes.set.newBlobs[digest] = nil
            changes.set.removedBlobs.insert(digest)
        case .journal: break
        default: changes.set.records[key] = .some(nil)
        }
    }

    func removeJournal() throws {}

    /// A side record as this write sees it; what was read is compared at the commit.
    func record(_ key: SideRecord.Key, stored: () throws -> SideRecord?) throws -> SideRecord? {
        switch key {
        case .journal: return nil
        case .blob(let digest):
            if changes.set.removedBlobs.contains(digest) { return nil }
            guard let found = try stored() else {
                return changes.set.newBlobs[digest].map(SideRecord.blob)
            }
            changes.set.neededBlobs.insert(digest)
            return found
        case .setting(let name):
            if let changed = changes.set.records[key] { return changed }
            changes.set.settingsAge = settings.age
            return settings.values[name].map { .setting(name: name, value: $0) }
        default:
            if let changed = changes.set.records[key] { return changed }
            if let seen = changes.set.seen[key] { return seen }
            let found = try stored()
            changes.set.seen[key] = .some(found)
            return found
        }
    }

    private static var withoutJournal: DatabaseError {
        DatabaseError(.invalid, "a database in PostgreSQL has no journal of local changes: that is a device's")
    }
}
