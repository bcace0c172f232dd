public import Foundation
internal import SettleCore
public import SettleDatabase

/// How a database of another product is imported.
public struct ImportOptions: Sendable {
    /// The collection, `SCOPE.NAME`.
    public var collection: String
    /// Whether leaves that the product hid from its app are closed by tombstones, so that a document in conflict shows what it
    /// showed before. This is an edit, and replicates.
    public var keepsWinners: Bool
    /// Whether the import ends at an attachment whose content is missing or damaged; otherwise the document is stored without it.
    public var isStrict: Bool
    /// The member whose value is the id of a document without `_id`, of a dump.
    public var idAttribute: String?
    /// Whether only documents are imported that the product had not pushed to its server yet, as far as its file says. Pull from
    /// the server first: of a file with version vectors, a revision then continues the server's tree.
    public var onlyUnpushed: Bool
    /// The URL that the app synced with, by which Couchbase Lite 1.x names what it had pushed; used with ``onlyUnpushed``.
    public var syncedWith: URL?

    /// Creates options.
    public init(
        collection: String = "_default._default", keepsWinners: Bool = false, isStrict: Bool = false,
        idAttribute: String? = nil, onlyUnpushed: Bool = false, syncedWith: URL? = nil
    ) {
        (self.collection, self.keepsWinners) = (collection, keepsWinners)
        (self.isStrict, self.idAttribute) = (isStrict, idAttribute)
        (self.onlyUnpushed, self.syncedWith) = (onlyUnpushed, syncedWith)
    }
}

/// How far an import is.
public struct ImportProgress: Sendable {
    /// The documents that were read.
    public let documents: Int
    /// Their number; `nil` where it is not known before.
    public let total: Int?
    /// The bytes of their attachments.
    public let attachmentBytes: Int64
    /// The part that is done, from 0 to 1; `nil` where it is not known.
    public var fraction: Double? { total.map { Double(documents) / Double(max($0, 1)) } ?? share }
    var share: Double?

    init(documents: Int, total: Int?, attachmentBytes: Int64) {
        (self.documents, self.total, self.attachmentBytes) = (documents, total, attachmentBytes)
    }
}

extension Database {
    /// Imports a database or dump of another product: documents with their histories, conflicts, tombstones and attachments, and
    /// local documents.
    ///
    ///     let old = try ForeignDatabase(at: url)
    ///     let report = try database.importAll(from: old)
    ///     print(report)
    ///
    /// Revisions keep their ids, so a sync with the server that the old app used sends only what the server lacks. A
    /// second import changes nothing, and one of an interrupted import with the same options goes on where that ended.
    /// Documents of a dump that have no ids get new ones, so each import stores them again. It is long work: call it
    /// within `perform`. The report covers the interrupted part, too, and names the other collections that have
    /// documents.
    ///
    /// - Parameters:
    ///   - source: The database; the original is not changed.
    ///   - options: What is imported, and how.
    ///   - progress: Called after each document. What it throws ends the import; what was read before is stored.
    /// - Returns: What was taken, and what was not.
    /// - Throws: ``ForeignFileError`` if the source can't be read on, or with code `unsupported` if it does not say what was pushed;
    ///   ``DatabaseError`` if the database can't be written; `CancellationError` if the task was cancelled; errors of `progress`.
    @discardableResult
    public func importAll(
        from source: ForeignDatabase, options: ImportOptions = ImportOptions(),
        progress: (ImportProgress) throws -> Void = { _ in }
    ) throws -> ImportReport {
        var report = try source.importAll(into: DatabaseImportStore(self), options: options) { state in
            if Task.isCancelled { throw CancellationError() }
            try progress(state)
        }
        report.leftOut += source.collections(besides: options.collection)
        return report
    }

    /// Opens a database; if there is none yet, it is made of the database of another product.
    ///
    ///     let database = try Database.openOrCreate(path, migratingFrom: oldURL)
    ///
    /// This is one line for the start of an app that has moved to Settle. The import writes into a folder beside the new one,
    /// which gets its name when all is stored and counted. So an app that is ended meanwhile has either the whole database or
    /// none, and reads the old one again at its next start; what was stored before is known then, and not stored twice. An
    /// import of a dump is begun anew. The old files stay as they are; the app deletes them when it wants to. If there is no old
    /// file, the database is created empty.
    ///
    /// - Parameters:
    ///   - path: The database's folder.
    ///   - old: The database of the other product.
    ///   - options: How to open the database.
    ///   - importing: What is imported, and how.
    ///   - progress: Called after each document; what it throws ends the import.
    ///   - review: Called with the report of the whole source before the database gets its name. What it throws ends the call;
    ///     nothing has changed then.
    /// - Returns: The database.
    /// - Throws: Errors of ``importAll(from:options:progress:)`` and of `openOrCreate`.
    public static func openOrCreate(
        _ path: String, migratingFrom old: URL, options: DatabaseOptions = DatabaseOptions(),
        importing: ImportOptions = ImportOptions(), progress: (ImportProgress) throws -> Void = { _ in },
        review: (ImportReport) throws -> Void = { _ in }
    ) throws -> Database {
        do { return try open(path, options: options) } catch let error as DatabaseError where error.code == .notFound {
            guard FileManager.default.fileExists(atPath: old.path) else { return try create(path, options: options) }
        }
        let source = try ForeignDatabase(at: old)
        _ = try source.pushRecord(for: importing)
        let place = URL(fileURLWithPath: path).path
        let unfinished = place + ".importing"
        if case .dump = source.content {
            // Documents without ids would get others than before, and be there twice.
            do { try remove(unfinished) } catch let error as DatabaseError where error.code == .notFound {}
        }
        try source.fill(unfinished, options, importing, progress, review)
        try renameDurably(unfinished, to: place)
        return try open(path, options: options)
    }
}

extension ForeignDatabase {
    /// Makes a database of the source, and compares the counts. One that was begun is filled from the beginning, so that the
    /// report covers the whole source; what it has already is known then.
    fileprivate func fill(
        _ path: String, _ options: DatabaseOptions, _ importing: ImportOptions,
        _ progress: (ImportProgress) throws -> Void, _ review: (ImportReport) throws -> Void
    ) throws {
        let database = try Database.openOrCreate(path, options: options)
        defer { database.close() }
        try DatabaseImportStore(database).setMark(nil)
        let report = try database.importAll(from: self, options: importing, progress: progress)
        let documents = try database.info().documents
        let stored = documents.live + documents.deleted
        if case .reader = content, !report.explains(stored) {
            throw DatabaseError(
                .storage, "of \(report.documents) documents \(stored) were stored; the import is not used")
        }
        try review(report)
    }

    /// The collections with documents that an import of one collection leaves out, each in a few words.
    fileprivate func collections(besides imported: String) -> [String] {
        guard case .reader(let reader) = content else { return [] }
        return reader.collections.filter { $0 != imported }.compactMap { name -> String? in
            // A collection that can't be counted may have documents, too.
            guard let count = try? reader.count(in: name) else { return "the collection \(name)" }
            return count == 0 ? nil : "the collection \(name) with \(counted(count, "document"))"
        }
    }

    /// Imports into some destination.
    ///
    /// - Parameters:
    ///   - store: The destination.
    ///   - options: What is imported, and how.
    ///   - lost: Called with each part of a document that was not taken, when that is known.
    ///   - progress: Called after each document; what it throws ends the import.
    /// - Returns: What was taken, and what was not.
    /// - Throws: As ``Database/importAll(from:options:progress:)`` does.
    package func importAll(
        into store: any ImportStore, options: ImportOptions,
        lost: @escaping (ImportReport.Fault) -> Void = { _ in }, progress: (ImportProgress) throws -> Void
    ) throws -> ImportReport {
        let pushed = try pushRecord(for: options)
        switch content {
        case .reader(let reader):
            var importer = ForeignImporter(self, reader, store, options, without: pushed, lost)
            try importer.run(progress)
            return importer.report
        case .dump(let source):
            return try importDump(source, into: store, options: options, lost, progress: progress)
        }
    }

    private func importDump(
        _ source: any RecordSource, into store: any ImportStore, options: ImportOptions,
        _ lost: @escaping (ImportReport.Fault) -> Void, progress: (ImportProgress) throws -> Void
    ) throws -> ImportReport {
        var report = ImportReport(self)
        let recordOptions = RecordImporter.Options(idAttribute: options.idAttribute, isStrict: options.isStrict)
        let importer = RecordImporter(store, options: recordOptions) { failure in
            let message = (failure.error as? DatabaseError)?.message ?? "\(failure.error)"
            let fault = ImportReport.Fault(
                id: failure.id, revision: nil, attachment: failure.attachment,
                message: "line \(failure.line): \(message)")
            report.record(fault)
            lost(fault)
        }
        try importer.run(source) { counts in
            var state = ImportProgress(
                documents: counts.total, total: nil, attachmentBytes: counts.attachmentBytes)
            state.share = position.map { Double($0().done) / Double(max($0().total, 1)) }
            try progress(state)
        }
        let counts = importer.counts
        report.documents = counts.total - counts.locals
        report.leaves = counts.stored + counts.known + counts.skipped - counts.locals
        (report.attachments, report.attachmentBytes) = (counts.attachments, counts.attachmentBytes)
        report.localDocuments = counts.locals
        report.known = counts.known
        report.tombstones = counts.tombstones
        report.leftOut = importer.notes(of: source).texts
        return report
    }
}
