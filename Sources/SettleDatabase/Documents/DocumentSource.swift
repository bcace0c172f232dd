package import SettleCore

/// Where documents are read: a ``Database``, whose reads may wait, or a ``PromptDatabase``, whose reads never do.
///
/// A function that gets a source may run on a thread that must not wait. Where it needs more than a source offers, it asks for
/// the ``database``, which ends it on such a thread.
package protocol DocumentSource: Sendable {
    /// The database, whose calls may wait.
    ///
    /// - Throws: ``NotAtHand`` where nothing may wait.
    var database: Database { get throws }

    /// A document as far as it is readable, as ``Database/storedRecord(of:withContent:)`` gives it.
    ///
    /// - Throws: ``DatabaseError``; ``NotAtHand`` where nothing may wait and the read would.
    func storedRecord(of id: DocumentID, withContent: Bool) throws -> DocumentRecord?

    /// Runs a closure whose reads see one state, where that needs no waiting.
    func snapshot<Result>(_ body: () throws -> Result) throws -> Result

    /// An epoch that changes with every commit of a design document.
    var designEpoch: UInt64 { get }

    /// The newest commit, as ``Database/newestCommit`` is.
    var newestCommit: Commit? { get }

    /// What a layer above keeps with the database, if it keeps it already.
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
    /// - Throws: ``DatabaseError`` with code `damagedDocument` for one that can't be read.
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

/// What can be read of a database without waiting: documents of up to 64 KiB, while a reader is free.
package struct PromptDatabase: DocumentSource {
    private let whole: Database
    /// The most bytes of a document.
    package static let maximumBytes = 64 * 1024

    /// Makes a source that reads a database.
    package init(_ database: Database) { whole = database }

    package var database: Database { get throws { throw NotAtHand() } }

    package func storedRecord(of id: DocumentID, withContent: Bool) throws -> DocumentRecord? {
        guard let engine = whole.capabilities.prompt else { throw NotAtHand() }
        let record = try engine.shortRecord(of: id, mostBytes: Self.maximumBytes)
        return record.flatMap { whole.noting([$0]).first }
    }

    /// Runs a closure; each of its reads sees the state of its moment.
    package func snapshot<Result>(_ body: () throws -> Result) throws -> Result { try body() }

    package var designEpoch: UInt64 { whole.designEpoch }

    package var newestCommit: Commit? { whole.newestCommit }

    package func known<Companion: AnyObject & Sendable>(_ type: Companion.Type) -> Companion? { whole.known(type) }
}
