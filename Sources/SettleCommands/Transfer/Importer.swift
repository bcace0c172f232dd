internal import Settle
import SettleCore

/// Stores the documents of an input, one batch per transaction, and continues past failures.
final class Importer {
    /// The treatment of existing documents.
    enum Conflict: String, CaseIterable, Sendable { case fail, overwrite, skip }

    /// The options of an import.
    struct Options: Sendable {
        var batch = 1000
        var idMember: String?
        var onConflict = Conflict.fail
        var stopsOnError = false
    }

    private let store: any ImportStore
    private let options: Options
    private let report: (ImportFailure) -> Void
    private let parser: DocumentParser
    private var batch: [(line: Int, document: IncomingDocument)] = []
    private var batchBytes = 0
    private var isStopped = false
    /// A batch is written when it reaches this size in bytes, or the maximum number of documents.
    private static let largestBatch = 8 * 1024 * 1024
    /// The counts so far.
    private(set) var counts = Importer.Counts()

    init(_ store: any ImportStore, options: Options, report: @escaping (ImportFailure) -> Void) {
        self.store = store
        self.options = options
        self.report = report
        parser = DocumentParser(attachments: store.attachmentImporter, idMember: options.idMember)
    }

    /// Imports the whole input; when interrupted, documents read before are stored.
    func run(_ reader: some RecordSource, progress: (Importer.Counts) -> Void) throws {
        do {
            while !isStopped, let record = try reader.read() {
                try collect(record)
                if batch.count >= options.batch || batchBytes >= Self.largestBatch { try flush() }
                progress(counts)
                try Interruption.check()
            }
            // The program that wrote the input may have been interrupted too, so this may not be its true end.
            try Interruption.check()
        } catch let error as CommandError where error.status == .interrupted {
            try flush()
            throw error
        }
        try flush()
    }

    private func collect(_ record: RecordReader.Record) throws {
        do {
            if let problem = record.problem { throw CommandError.invalid(problem) }
            guard let document = try parser.parse(record.bytes) else { return }
            batch.append((record.line, document))
            batchBytes += record.bytes.count
        } catch let error as DatabaseError where CommandError(error).status == .inputOutput {
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
        var outcomes: [Importer.Outcome] = []
        try store.transaction {
            outcomes = []
            while outcomes.count < pending.count {
                let run = Self.run(pending[outcomes.count...], isSingle: options.stopsOnError)
                outcomes += try store(run.map(\.document))
                if options.stopsOnError, case .failed = outcomes.last { break }
            }
        }
        for (outcome, item) in zip(outcomes, pending) {
            switch outcome {
            case .stored:
                counts.stored += 1
                if case .revision = item.document { counts.revisions += 1 }
            case .known: counts.known += 1
            case .skipped: counts.skipped += 1
            case .failed(let error): fail(ImportFailure(line: item.line, id: item.document.id, error))
            }
        }
    }

    private static func run(
        _ rest: ArraySlice<(line: Int, document: IncomingDocument)>, isSingle: Bool
    ) -> ArraySlice<(line: Int, document: IncomingDocument)> {
        guard let first = rest.first, !isSingle else { return rest.prefix(1) }
        return rest.prefix { item in
            switch (first.document, item.document) {
            case (.edit, .edit), (.revision, .revision), (.local, .local): true
            default: false
            }
        }
    }

    /// Stores documents of one kind.
    private func store(_ run: [IncomingDocument]) throws -> [Importer.Outcome] {
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

extension Importer {
    /// The outcome of a document.
    enum Outcome {
        case stored, known, skipped
        case failed(any Error)
    }
}

extension Importer {
    /// The counts of an import.
    struct Counts: Sendable, Equatable {
        /// Stored.
        var stored = 0
        /// Of those, revisions with their history.
        var revisions = 0
        /// Existing revisions.
        var known = 0
        /// Existing documents left unchanged, with `--on-conflict skip`.
        var skipped = 0
        /// Failures, with a reason.
        var failed = 0

        /// The sum of all.
        var total: Int { stored + known + skipped + failed }

        /// The counts as text.
        func summary(_ duration: Duration, bytes: Int64) -> String {
            let noun = revisions > 0 ? "revision" : "document"
            var text = "Imported \(Quantity.of(stored, noun)) in \(Quantity.duration(duration))"
            if stored > 0 { text += " (\(Quantity.rate(stored, in: duration)), \(Quantity.bytes(bytes)))" }
            if known > 0 { text += "; \(Quantity.grouped(known)) known already" }
            if skipped > 0 { text += "; \(Quantity.grouped(skipped)) skipped" }
            if failed > 0 { text += "; \(Quantity.grouped(failed)) failed" }
            return text
        }

        /// The counts as JSON.
        func json(_ duration: Duration, bytes: Int64) -> JSONValue {
            [
                "imported": .number(JSONNumber(stored)), "known": .number(JSONNumber(known)),
                "skipped": .number(JSONNumber(skipped)), "failed": .number(JSONNumber(failed)),
                "bytes": .number(JSONNumber(bytes)),
                "seconds": JSONNumber(Quantity.seconds(duration)).map(JSONValue.number) ?? .null,
            ]
        }
    }
}

// MARK: - ImportFailure

/// A document of an input that was not stored, and why.
struct ImportFailure: Error, Sendable {
    let line: Int
    let column: Int?
    let id: DocumentID?
    let error: CommandError

    init(_ record: RecordReader.Record, _ error: any Error) {
        if let json = error as? JSONError {
            line = record.line + json.line - 1
            column = json.line == 1 ? record.column + json.column - 1 : json.column
            self.error = CommandError("invalid", json.message, status: .refused)
        } else {
            line = record.line
            column = record.column > 1 ? record.column : nil
            self.error = CommandError(error)
        }
        id = nil
    }

    init(line: Int, id: DocumentID?, _ error: any Error) {
        self.line = line
        self.id = id
        column = nil
        self.error = CommandError(error)
    }

    /// The place and the cause, as text.
    var description: String {
        "line \(line)" + (column.map { ", column \($0)" } ?? "") + ": \(error.message)"
    }

    /// The place and the cause, as JSON.
    var json: JSONValue {
        var json: JSONValue = [
            "error": .string(error.code), "message": .string(error.message), "line": .number(JSONNumber(line)),
        ]
        if let column { json["column"] = .number(JSONNumber(column)) }
        if let id { json["id"] = .string(id.string) }
        return json
    }
}
