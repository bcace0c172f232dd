/// Where a store keeps the settings of its servers, with the secrets among them: one text of bytes with a version.
///
/// Every write gives the record another version. Nodes that share it change it by comparing versions: who reads version 7 and
/// replaces version 7 overwrites nothing that it has not seen.
package protocol ServerRecord: Sendable {
    /// The record's place for messages: "the settings file /srv/settle/server.json".
    var place: String { get }

    /// Reserves the store for one server, where only one may use it; does nothing in a shared store, nor when this record has
    /// reserved it already.
    ///
    /// - Throws: ``DatabaseError`` with code `inUse` when another server has the store, or `inputOutput`.
    func take() throws

    /// Lets other servers have the store.
    func release()

    /// Reads the record; `nil` before it was first written.
    ///
    /// - Throws: ``DatabaseError`` of the storage.
    func read() throws -> (bytes: [UInt8], version: Int64)?

    /// Writes the record, durably and as a whole.
    ///
    /// - Parameters:
    ///   - bytes: The new content.
    ///   - version: The version that the caller has read; `nil` if there was no record.
    /// - Returns: The new version, or `nil` when another node has written meanwhile; then nothing was written.
    /// - Throws: ``DatabaseError`` of the storage.
    func write(_ bytes: [UInt8], replacing version: Int64?) throws -> Int64?

    /// The version that the last ``DatabaseStore/freshen(_:)`` has found; `nil` where nobody else writes, and before there is a
    /// record. Asking for it waits for nothing.
    var newestVersion: Int64? { get }
}
