package import SettleCore

/// Which documents were forgotten lately, for indexes that have to forget them too.
///
/// A purge leaves no change behind. So each is numbered, and the last ones are kept among the database's settings.
package enum PurgeLog {
    private static let counter = "purges"
    private static let requests = "purge_requests"
    /// How many are kept; an index that has missed more looks which of its documents are gone.
    package static let kept: Int64 = 1000

    /// Takes note of a purge, in the transaction that does it.
    static func note(_ id: DocumentID, with writer: any StorageWriter) throws {
        let number = (try writer.setting(counter).flatMap { Int64($0) } ?? 0) + 1
        try writer.setSetting(name(number), to: id.string)
        try writer.setSetting(name(number - kept), to: nil)
        try writer.setSetting(counter, to: String(number))
    }

    /// Counts that a document was asked to be purged, whether it was there or not: CouchDB's `purge_seq`.
    static func countRequest(with writer: any StorageWriter) throws {
        let count = try writer.setting(requests).flatMap { Int64($0) } ?? 0
        try writer.setSetting(requests, to: String(count + 1))
    }

    /// How often a document was asked to be purged.
    package static func requestCount(in database: Database) throws -> Int64 {
        try database.setting(requests).flatMap { Int64($0) } ?? 0
    }

    /// How many documents were ever purged.
    package static func count(in database: Database) throws -> Int64 {
        try database.setting(counter).flatMap { Int64($0) } ?? 0
    }

    /// The documents purged after so many; `nil` when not all of them are known any more.
    package static func purged(after seen: Int64, in database: Database) throws -> [DocumentID]? {
        try database.snapshot {
            let count = try count(in: database)
            guard seen <= count, count - seen <= kept else { return nil }
            guard seen < count else { return [] }
            var ids: [DocumentID] = []
            for number in seen + 1...count {
                guard let id = try database.setting(name(number)) else { return nil }
                ids.append(DocumentID(unchecked: id))
            }
            return ids
        }
    }

    private static func name(_ number: Int64) -> String { "purged.\(number)" }
}
