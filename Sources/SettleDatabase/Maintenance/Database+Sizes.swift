internal import SettleCore
internal import SettlePlatform

extension Database {
    /// How large the database is.
    ///
    /// Contents are counted when this is first asked for, and again after a sixteenth of the documents changed; the figures in
    /// between lag behind by that much. The sizes of files are as they are now.
    ///
    /// - Returns: The sizes. Which old contents a compaction will let go of is estimated: those that came since the last one.
    /// - Throws: ``DatabaseError`` with code `corrupt`, `inputOutput` or `closed`.
    /// - Complexity: O(1); O(*n*) in documents when contents are counted.
    public func sizes() throws -> DatabaseSizes {
        let payload = try payload()
        let disk = try engine.maintain(.measure)
        let needed = try setting(Self.neededContentsSetting).flatMap { Int64($0) } ?? 0
        let old = max(0, payload.apart - needed)
        return DatabaseSizes(
            file: max(disk.bytes, files?.size ?? disk.bytes) + payload.attachmentFiles,
            active: max(0, disk.bytes - disk.freeBytes - old) + payload.attachmentFiles,
            external: payload.winners + payload.apart - old + payload.attachments)
    }

    /// The setting with the size of the contents kept apart that the last compaction left.
    static var neededContentsSetting: String { "needed_contents" }

    /// What is kept, as it was counted lately.
    private func payload() throws -> StoragePayload {
        let sequence = try lastSequence()
        let known = sizeCount.withLock { $0 }
        if let known, sequence.number - known.sequence.number <= known.tolerance { return known.payload }
        return try countPayload()
    }

    private func countPayload() throws -> StoragePayload {
        let count = try engine.snapshot { reader in
            SizeCount(
                payload: try engine.maintain(.weigh).payload, sequence: try reader.lastSequence,
                tolerance: Int64(try reader.count(.documents(DocumentRange())) / 16))
        }
        sizeCount.withLock { $0 = count }
        return count.payload
    }

    /// Counts anew after a compaction, and remembers what it left of contents kept apart.
    func noteCompactedSize() throws {
        let payload = try countPayload()
        try engine.commit { try $0.setSetting(Self.neededContentsSetting, to: String(payload.apart)) }
    }
}
