internal import SettleDatabase

/// The location of an index's file, and the open indexes of the database.
package struct IndexPlace: Sendable {
    let path: String
    let openIndexes: OpenIndexes
    /// The lock of the folder, if it is not the database's own.
    let lock: FileLock?
}
