package import SettleCore
internal import SettleDatabase

/// Stores the documents of a dump, one batch per transaction, and continues past failures.
package final class RecordImporter {
    /// The options of an import.
    package struct Options: Sendable {
        package var batch: Int
        package var idAttribute: String?
        package var onConflict: ImportConflict
        package var stopsOnError: Bool
        /// Whether a document is refused that lacks the content of an attachment.
        package var isStrict: Bool

        package init(
            batch: Int = 1000, idAttribute: String? = nil, onConflict: ImportConflict = .fail,
            stopsOnError: Bool = false,
            isStrict: Bool = false
        ) {
            (self.batch, self.idAttribute, self.onConflict) = (batch, idAttribute, onConflict)
            (self.stopsOnError, self.isStrict) = (stopsOnError, isStrict)
        }
    }

    private let store: any ImportStore
    private let options: Options
    private let report: (ImportFailure) -> Void
    private let parser: DocumentParser
    private var batch: [Item] = []
    private var batchBytes = 0
    private var isStopped = false
    /// The counts so far.
    package private(set) var counts = Counts()

    private struct Item {
        let record: RecordReader.Record
        let parsed: DocumentParser.Parsed

        init(_ record: RecordReader.Record, _ parsed: DocumentParser.Parsed) {
            var place = record
            place.bytes = []
            (self.record, self.parsed) = (place, parsed)
        }
    }

    /// Creates an importer, which reports each failure.
    package init(_ store: any ImportStore, options: Options, report: @escaping (ImportFailure) -> Void) {
        self.store = store
        self.options = options
        self.report = report
        parser = DocumentParser(
            attachments: store.attachmentImporter, idAttribute: options.idAttribute, isStrict: options.isStrict,
            newID: { store.newID() })
    }

    /// Imports the whole input.
    ///
    /// - Parameters:
    ///   - reader: The input.
    ///   - progress: Called after each document. What it throws ends the import, and the documents before it are stored.
    /// - Throws: What the input, the destination and `progress` throw.
    package func run(_ reader: any RecordSource, progress: (Counts) throws -> Void) throws {
        do { try runParts(reader, progress) } catch let failure as ImportStoreFailure { throw failure.cause }
    }

    /// What an input that was imported says besides its documents, with what its documents say of conflicts.
    package func notes(of source: any RecordSource) -> DumpNotes {
        var notes = source.notes
        // Other dumps have the revisions in conflict as well.
        if source.form.kind == .couchdb { notes.conflicts += counts.conflicts }
        notes.uncheckedContents = store.attachmentImporter.uncheckedCount
        return notes
    }

    private func runParts(_ reader: any RecordSource, _ progress: (Counts) throws -> Void) throws {
        do {
            while !isStopped, let record = try reader.read() {
                try collect(record)
                if batch.count >= options.batch || batchBytes >= ImportLimits.batchBytes { try flush() }
                try progress(counts)
            }
            // The program that wrote the input may have been interrupted too, so this may not be its true end.
            try progress(counts)
        } catch let error where !(error is DatabaseError || error is ImportStoreFailure) {
            try flush()
            throw error
        }
        try flush()
    }

    private func collect(_ record: RecordReader.Record) throws {
        do {
            if let problem = record.problem { throw DatabaseError(.invalid, problem) }
            let parsed = try parser.parse(
                record.bytes, isDeletionAtSource: record.isDeletionAtSource, idPrefix: record.idPrefix)
            guard let parsed else { return }
            batch.append(Item(record, parsed))
            batchBytes += record.bytes.count
        } catch let error as DatabaseError where error.code.isOfTheSystem {
            throw error
        } catch {
            // Documents before it are stored first, so that reports stay in order.
            try flush()
            fail(ImportFailure(record, error))
        }
    }

    private func fail(_ failure: ImportFailure) {
        if isStopped { return }
        counts.failed += 1
        report(failure)
        if options.stopsOnError { isStopped = true }
    }

    /// Writes the batch in one transaction, if any; consecutive documents of one kind are stored together.
    private func flush() throws {
        let pending = batch
        batch = []
        batchBytes = 0
        var outcomes: [ImportOutcome] = []
        do {
            try store.transaction {
                outcomes = []
                while outcomes.count < pending.count {
                    let run = Self.run(pending[outcomes.count...], isSingle: options.stopsOnError)
                    outcomes += try store(run.map(\.parsed.document))
                    if options.stopsOnError, case .failed = outcomes.last { break }
                }
            }
        } catch { throw ImportStoreFailure(cause: error) }
        for (outcome, item) in zip(outcomes, pending) { count(outcome, item) }
    }

    private func count(_ outcome: ImportOutcome, _ item: Item) {
        switch outcome {
        case .stored:
            counts.stored += 1
            if case .revision(let revision) = item.parsed.document {
                counts.revisions += 1
                if revision.isDeleted { counts.tombstones += 1 }
            }
        case .known: counts.known += 1
        case .skipped: counts.skipped += 1
        case .failed(let error):
            return fail(ImportFailure(item.record, id: item.parsed.document.id, error))
        }
        if item.parsed.hasConflicts { counts.conflicts += 1 }
        if case .local = item.parsed.document { counts.locals += 1 }
        for attachment in item.parsed.document.attachments {
            counts.attachments += 1
            counts.attachmentBytes += attachment.encodedLength
        }
        for name in item.parsed.missing {
            counts.lostAttachments += 1
            report(
                ImportFailure(
                    item.record, id: item.parsed.document.id, attachment: name,
                    DatabaseError(
                        .attachmentMissing,
                        """
                        the content of \"\(name)\" is neither in the input nor in the database; the document was stored \
                        without it
                        """)))
        }
    }

    private static func run(_ rest: ArraySlice<Item>, isSingle: Bool) -> ArraySlice<Item> {
        guard let first = rest.first, !isSingle else { return rest.prefix(1) }
        return rest.prefix { item in
            switch (first.parsed.document, item.parsed.document) {
            case (.edit, .edit), (.revision, .revision), (.local, .local): true
            default: false
            }
        }
    }

    /// Stores documents of one kind.
    private func store(_ run: [IncomingDocument]) throws -> [ImportOutcome] {
        let edits = run.compactMap { if case .edit(let document) = $0 { document } else { nil } }
        if !edits.isEmpty { return try store.save(edits, onConflict: options.onConflict) }
        let revisions = run.compactMap { if case .revision(let revision) = $0 { revision } else { nil } }
        if !revisions.isEmpty { return try store.insert(revisions) }
        return try run.map { document in
            if case .local(let id, let body) = document { try store.saveLocal(id, body) }
            return .stored
        }
    }
}

extension RecordImporter {
    /// The counts of an import.
    package struct Counts: Sendable, Equatable {
        /// Stored.
        package var stored = 0
        /// Of those, revisions with their history.
        package var revisions = 0
        /// Of those, tombstones.
        package var tombstones = 0
        /// Of those, local documents.
        package var locals = 0
        /// The attachments of stored and existing documents.
        package var attachments = 0
        /// Their bytes, as they are stored.
        package var attachmentBytes: Int64 = 0
        /// Existing revisions and documents.
        package var known = 0
        /// Existing documents left unchanged, on request.
        package var skipped = 0
        /// Failures, with a reason.
        package var failed = 0
        /// Attachments without content, which their documents were stored without.
        package var lostAttachments = 0
        /// Documents of which the input says that they have conflicts.
        package var conflicts = 0

        package init(
            stored: Int = 0, revisions: Int = 0, tombstones: Int = 0, known: Int = 0, skipped: Int = 0, failed: Int = 0,
            conflicts: Int = 0, locals: Int = 0, attachments: Int = 0, attachmentBytes: Int64 = 0
        ) {
            (self.stored, self.revisions, self.tombstones) = (stored, revisions, tombstones)
            (self.known, self.skipped, self.failed, self.conflicts) = (known, skipped, failed, conflicts)
            (self.locals, self.attachments, self.attachmentBytes) = (locals, attachments, attachmentBytes)
        }

        /// The documents that were read.
        package var total: Int { stored + known + skipped + failed }
    }
}

/// How much an import collects before it writes.
enum ImportLimits {
    /// A batch is written when it reaches this size in bytes, or its number of documents.
    static let batchBytes = 8 * 1024 * 1024
    /// How many faults of one kind a report lists.
    static let listed = 1000
}

/// A failure of the destination, after which nothing more is written.
private struct ImportStoreFailure: Error {
    let cause: any Error
}

extension DatabaseErrorCode {
    /// Whether the failure is one of the system, which is not the document's.
    fileprivate var isOfTheSystem: Bool { self == .diskFull || self == .inputOutput || self == .unavailable }
}

// MARK: - ImportFailure

/// A document of an input that was not stored, and why.
package struct ImportFailure: Error, Sendable {
    /// The file, where the input has several.
    package let file: String?
    package let line: Int
    package let column: Int?
    package let id: DocumentID?
    /// The attachment, if only that was not stored.
    package let attachment: String?
    package let error: any Error

    init(
        _ record: RecordReader.Record, id: DocumentID? = nil, attachment: String? = nil, _ error: any Error
    ) {
        file = record.file
        (self.id, self.attachment) = (id, attachment)
        if let json = error as? JSONError {
            line = record.line + json.line - 1
            column = json.line == 1 ? record.column + json.column - 1 : json.column
            self.error = DatabaseError(.invalid, json.message)
        } else {
            line = record.line
            column = record.column > 1 && id == nil ? record.column : nil
            self.error = error
        }
    }
}
