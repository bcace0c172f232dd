extension Database {
    /// Copies this database into an empty one, exactly: documents with their revisions, positions of changes and tokens of contents,
    /// local documents, settings with the instance, expirations, and contents of attachments. What clients, checkpoints and indexes
    /// remember of this database is true of the copy.
    ///
    /// A copy that was interrupted is continued by the next call with the same databases. At the end both are read and compared.
    /// Nobody may change one of them meanwhile; documents that expire stay until the end. The target keeps settings in memory that it had
    /// before, so it is closed and opened again to be used.
    ///
    /// - Parameters:
    ///   - target: The other database, which is empty or an interrupted copy of this one.
    ///   - progress: Called with the progress, after each step; what it throws interrupts the copy.
    /// - Returns: A hash of everything in the copy, in hexadecimal digits.
    /// - Throws: ``DatabaseError`` with code `invalid`, before anything is written, if the journal has operations or ids are longer
    ///   than the target allows; `exists` for a target with something else in it; `conflict` if this database was changed since the
    ///   copy was begun; `damagedDocument` or `attachmentMissing` for what can't be read; `corrupt` for a copy that differs; errors of
    ///   the storage; and what `progress` throws.
    @discardableResult
    package func copy(
        to target: Database, progress: (MaintenanceProgress) throws -> Void = { _ in }
    ) throws -> String {
        for database in [self, target] { database.expirations.cancel() }
        defer {
            do { try scheduleExpiration() } catch { warn("can't read when documents expire: \(error)") }
        }
        return try withoutActuallyEscaping(progress) { progress in
            try DatabaseCopy(source: self, target: target, progress: progress).run().description
        }
    }
}
