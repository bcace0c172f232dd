internal import Settle
import SettleCore

/// The form of an export.
enum ExportForm: String, CaseIterable, Sendable {
    /// A leaf revision a line, as `settle import` and CouchDB's `_bulk_docs` read it.
    case ndjson
    /// A header, and arrays of revisions in lines, which couchrestore reads.
    case couchbackup
    /// A header, and `{"docs":[…]}` and `{"seq":N}` in lines, which PouchDB's load reads.
    case pouchdb
    /// A table of the documents as apps see them.
    case csv

    /// Whether contents of attachments stand in the document's line, expanded.
    var hasPlainContents: Bool { self == .couchbackup || self == .pouchdb }
}

/// Writes the lines of revisions in the form of an export.
final class ExportLines {
    private static let batch = 500
    private static let batchBytes = 4 * 1024 * 1024

    private let output: ByteOutput
    private let form: ExportForm
    private var hasHeader = false
    private var bytes: [UInt8] = []
    private var count = 0
    /// The position up to which all documents are written.
    private var sequence: Int64?
    private var writtenSequence: Int64?

    init(to output: ByteOutput, _ form: ExportForm) { (self.output, self.form) = (output, form) }

    /// Writes a revision, or keeps it for the next line.
    func add(_ revision: [UInt8]) throws {
        guard form.hasPlainContents else { return try output.write(revision + [UInt8(ascii: "\n")]) }
        if count > 0 { bytes.append(UInt8(ascii: ",")) }
        bytes += revision
        count += 1
        if count == Self.batch || bytes.count >= Self.batchBytes { try flush() }
    }

    /// Notes the position of the last document, all of whose revisions were added.
    func log(_ sequence: Int64) { self.sequence = sequence }

    /// Writes what was kept, and the header if nothing was written yet.
    func finish() throws {
        try flush()
        if !hasHeader { try writeHeader() }
        try writeSequence()
    }

    private func flush() throws {
        guard count > 0 else { return }
        if !hasHeader { try writeHeader() }
        let docs: [UInt8] = [UInt8(ascii: "[")] + bytes + [UInt8(ascii: "]")]
        if form == .pouchdb {
            try output.write(Array("{\"docs\":".utf8) + docs + Array("}\n".utf8))
            try writeSequence()
        } else {
            try output.write(docs + [UInt8(ascii: "\n")])
        }
        (bytes, count) = ([], 0)
    }

    private func writeSequence() throws {
        guard form == .pouchdb, let sequence, sequence != writtenSequence else { return }
        try output.write("{\"seq\":\(sequence)}\n")
        writtenSequence = sequence
    }

    private func writeHeader() throws {
        hasHeader = true
        switch form {
        case .couchbackup:
            let header: JSONValue = [
                "name": "@cloudant/couchbackup", "version": "2.10.0", "mode": "full", "attachments": true,
            ]
            try output.write("\(header)\n")
        case .pouchdb:
            let header: JSONValue = ["version": "1.2.9", "db_type": "settle", "db_info": [:]]
            try output.write("\(header)\n")
        case .ndjson, .csv: break
        }
    }
}
