internal import Foundation
package import SettleCore
package import SettleDatabase
internal import SettlePlatform

extension ForeignDatabase {
    /// Reads a collection without importing it, and counts what it holds.
    ///
    /// - Parameters:
    ///   - options: The collection, and how it is read.
    ///   - verifies: Whether the structure of the file is checked, with the default collection, and the contents of attachments are
    ///     compared with their digests.
    ///   - scratch: A database for the contents of a dump's attachments.
    ///   - sample: Receives the first documents.
    ///   - progress: Called after each document; what it throws ends the reading.
    /// - Returns: What an import would take and not take.
    /// - Throws: ``ForeignFileError`` if the source can't be read on; errors of `progress`.
    package func inspect(
        _ options: ImportOptions, verifies: Bool, scratch: Database, sample: ImportSample? = nil,
        progress: (ImportProgress) throws -> Void
    ) throws -> ImportReport {
        let pushed = try pushRecord(for: options)
        guard case .reader(let reader) = content else {
            return try importAll(into: InspectingStore(scratch, sample), options: options, progress: progress)
        }
        var report = ImportReport(self)
        let isDefault = options.collection == reader.collections.first ?? defaultCollection
        if verifies, isDefault {
            do { try reader.check() } catch let error as ForeignFileError where error.code == .damaged {
                report.record(ImportReport.Fault(id: nil, revision: nil, attachment: nil, message: error.message))
            }
        }
        do {
            try report.read(reader, options, without: pushed, verifies: verifies, sample, progress)
        } catch let error as ForeignFileError where verifies && error.code == .damaged {
            // The documents up to the damage are counted.
            report.record(ImportReport.Fault(id: nil, revision: nil, attachment: nil, message: error.message))
        }
        if isDefault { try reader.forEachLocalDocument { _, _ in report.localDocuments += 1 } }
        // Now local documents that can't be read are among it.
        report.leftOut = reader.leftOut
        return report
    }

    /// Why the content of an attachment can't be taken; `nil` if it can.
    fileprivate static func problem(
        of attachment: ForeignAttachment, _ reader: any ForeignReader, verifies: Bool
    ) throws -> String? {
        if case .missing(let message) = attachment.place { return message }
        if case .file(let url) = attachment.place, !FileManager.default.fileExists(atPath: url.path) {
            return "the file \(url.lastPathComponent) is missing"
        }
        guard verifies else { return nil }
        let check = DigestCheck(attachment.digest)
        do { try reader.read(attachment) { check.update($0) } } catch let error as ForeignFileError
            where error.code == .missing || error.code == .damaged
        { return error.message }
        return check.isRight() ? nil : "the content has another digest than the file says"
    }
}

extension ImportReport {
    /// Counts the documents of a collection, and what can't be taken of them.
    fileprivate mutating func read(
        _ reader: any ForeignReader, _ options: ImportOptions, without pushed: PushRecord?, verifies: Bool,
        _ sample: ImportSample?, _ progress: (ImportProgress) throws -> Void
    ) throws {
        let total = try reader.count(in: options.collection)
        try reader.forEachDocument(in: options.collection, after: 0) { document in
            if let pushed, try pushed.includes(document) {
                documents += 1
                self.pushed += 1
            } else {
                count(document)
                for leaf in document.leaves {
                    try count(leaf, reader, verifies: verifies)
                    sample?.add(
                        leaf.id, leaf.history.revision, isDeleted: leaf.isDeleted, leaf.body,
                        attachments: leaf.attachments.map(\.name))
                }
            }
            try progress(ImportProgress(documents: documents, total: total, attachmentBytes: attachmentBytes))
        }
    }

    /// Counts the attachments of a leaf.
    private mutating func count(
        _ leaf: Revision<ForeignAttachment>, _ reader: any ForeignReader, verifies: Bool
    ) throws {
        for attachment in leaf.attachments {
            guard let problem = try ForeignDatabase.problem(of: attachment, reader, verifies: verifies) else {
                attachments += 1
                attachmentBytes = attachmentBytes.adding(clamped: attachment.length)
                continue
            }
            record(
                Fault(
                    id: leaf.id, revision: leaf.history.revision, attachment: attachment.name, message: problem))
        }
    }

    /// Counts a document of which nothing is stored.
    fileprivate mutating func count(_ document: ForeignDocument) {
        documents += 1
        leaves += document.leaves.count
        let live = document.leaves.count { !$0.isDeleted }
        if live > 1 { conflicts += 1 }
        if live == 0, !document.leaves.isEmpty { tombstones += 1 }
        if document.expiration != nil { expirations += 1 }
        if document.shown != nil { recordOtherWinner(document.id) }
        for fault in document.faults {
            record(
                Fault(
                    id: document.id, revision: fault.revision, attachment: fault.attachment, message: fault.message))
        }
    }
}

// MARK: - InspectingStore

/// A destination that stores nothing but contents of attachments, which are released from time to time.
private final class InspectingStore: ImportStore {
    let attachmentImporter: AttachmentImporter
    private let sample: ImportSample?
    /// The ids that were made since the last transaction. An import makes others.
    private var newIDs: Set<String> = []

    init(_ scratch: Database, _ sample: ImportSample?) {
        attachmentImporter = AttachmentImporter(scratch) { _ in [] }
        self.sample = sample
    }

    func newID() -> String {
        let id = SecureRandom.hexadecimal()
        newIDs.insert(id)
        return id
    }

    func transaction(_ body: () throws -> Void) throws {
        try body()
        newIDs = []
        _ = try attachmentImporter.database.compact()
    }

    func save(_ documents: [Document], onConflict conflict: ImportConflict) throws -> [ImportOutcome] {
        try documents.map { document in
            sample?.add(
                given(document.id), nil, isDeleted: false, try document.body(),
                attachments: document.attachments.map(\.name))
            return .stored
        }
    }

    func insert(_ revisions: [ReplicatedRevision]) throws -> [ImportOutcome] {
        revisions.map { revision in
            sample?.add(
                given(revision.id), revision.history.revision, isDeleted: revision.isDeleted, revision.body,
                attachments: revision.attachments.map(\.name))
            return .stored
        }
    }

    /// An id that the input has; `nil` for one that was made, which may follow the name of a class.
    private func given(_ id: DocumentID) -> DocumentID? {
        newIDs.contains(String(id.string.suffix(32))) ? nil : id
    }

    func saveLocal(_ id: DocumentID, _ body: DocumentBody) throws {}

    func history(of id: DocumentID, endingIn signature: RevisionSignature) throws -> RevisionHistory? { nil }

    func setExpiration(_ date: Date, of id: DocumentID) throws -> Bool { true }

    func keep(_ revision: RevisionID, of id: DocumentID) throws {}

    func mark() throws -> JSONValue? { nil }

    func setMark(_ mark: JSONValue?) throws {}
}

// MARK: - ImportSample

/// The first documents of an input, which a person looks at before an import.
///
/// A row is `{"id":…,"rev":…,"deleted":true,"attachments":[…],"doc":{…}}` with what there is. A document that gets its id
/// when it is imported has `"id":null`, and one for which there is no room left `"omitted":true` in place of `doc`.
package final class ImportSample {
    /// The most rows.
    private static let maximumRows = 5
    /// How many bytes the rows have left.
    private var room = 64 << 10
    /// The rows.
    package private(set) var rows: [JSONValue] = []

    /// Creates an empty sample.
    package init() {}

    func add(_ id: DocumentID?, _ revision: RevisionID?, isDeleted: Bool, _ body: DocumentBody, attachments: [String]) {
        guard rows.count < Self.maximumRows else { return }
        var row = JSONObject()
        row["id"] = id.map { JSONValue.string($0.string) } ?? JSONValue.null
        if let revision { row["rev"] = .string(revision.description) }
        if isDeleted { row["deleted"] = true }
        if !attachments.isEmpty { row["attachments"] = .array(attachments.map(JSONValue.string)) }
        let length = JSONValue.object(row).utf8.count
        guard length <= room else { return }
        room -= length
        if body.utf8.count <= room {
            room -= body.utf8.count
            row["doc"] = body.json
        } else {
            row["omitted"] = true
        }
        rows.append(.object(row))
    }
}
