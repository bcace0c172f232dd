package import SettleCore

/// A source of documents: a ``Database``, whose reads may wait, or a ``PromptDatabase``, whose reads never wait.
///
/// A function that gets a source may run on a thread that must not wait. If the function needs more than the source
/// offers, it uses ``database``, which throws on such a thread.
package protocol DocumentSource: Sendable {
    /// The database, whose calls may wait.
    ///
    /// - Throws: ``NotAtHand`` for a source that must not wait.
    var database: Database { get throws }

    /// A document as far as it is readable; see ``Database/storedRecord(of:withContent:)``.
    ///
    /// - Throws: ``DatabaseError``; ``NotAtHand`` if the read would have to wait and the source must not.
    func storedRecord(of id: DocumentID, withContent: Bool) throws -> DocumentRecord?

    /// Runs a closure whose reads see one state, if the source can do so without waiting.
    func snapshot<Result>(_ body: () throws -> Result) throws -> Result

    /// A number that changes with every commit of a design document.
    var designEpoch: UInt64 { get }

    /// The newest commit; see ``Database/newestCommit``.
    var newestCommit: Commit? { get }

    /// The object of a type that a higher layer has attached to the database; `nil` without such an object.
    func known<Companion: AnyObject & Sendable>(_ type: Companion.Type) -> Companion?
}

extension DocumentSource {
    /// A document as far as it is readable, with the winner's content.
    package func storedRecord(of id: DocumentID) throws -> DocumentRecord? {
        try storedRecord(of: id, withContent: true)
    }

    /// A document with its whole tree, its sequence, and the winner's content; `nil` if it was never written or was
    /// purged.
    ///
    /// - Throws: ``DatabaseError`` with code `damagedDocument` for a document that can't be read.
    package func record(of id: DocumentID) throws -> DocumentRecord? {
        let record = try storedRecord(of: id, withContent: true)
        if let damage = record?.damage { throw damage }
        return record
    }

    /// The content of one revision of a record; `nil` if it is not kept.
    package func content(of revision: RevisionID, in record: DocumentRecord) throws -> RevisionContent? {
        guard let node = record.tree[revision] else { return nil }
        if node.bodyToken == BodyToken.record, record.damage == nil { return record.content }
        return try database.engine.read { try $0.content(of: node, in: record) }
    }
}

extension Database: DocumentSource {
    package var database: Database { self }
}

/// A source that reads a database without waiting: documents of up to 64 KiB, while a reader is free.
package struct PromptDatabase: DocumentSource {
    private let whole: Database
    /// The maximum size of a document, in bytes.
    package static let maximumBytes = 64 * 1024

    /// Makes a source that reads a database.
    package init(_ database: Database) { whole = database }

    package var database: Database { get throws { throw NotAtHand() } }

    package func storedRecord(of id: DocumentID, withContent: Bool) throws -> DocumentRecord? {
        guard let engine = whole.capabilities.prompt else { throw NotAtHand() }
        let record = try engine.shortRecord(of: id, maximumBytes: Self.maximumBytes)
        return record.flatMap { whole.noting([$0]).first }
    }

    /// Runs a closure; each of its reads sees the newest state.
    package func snapshot<Result>(_ body: () throws -> Result) throws -> Result { try body() }

    package var designEpoch: UInt64 { whole.designEpoch }

    package var newestCommit: Commit? { whole.newestCommit }

    package func known<Companion: AnyObject & Sendable>(_ type: Companion.Type) -> Companion? { whole.known(type) }
}
