internal import Foundation
internal import Settle
import SettleCore
import SettleDatabase
internal import SettleHTTP
import SettleImport
import SettleReplication

/// Stores documents at a server, many in one request. Attachments are kept in a temporary database until they are
/// sent.
final class RemoteImportStore: ImportStore {
    let attachmentImporter: AttachmentImporter
    private let remote: Client
    private let scratch: ScratchDatabase
    private var heldBytes: Int64 = 0
    /// Sent contents are released when they reach this size in bytes.
    private static let largestHeld: Int64 = 256 * 1024 * 1024
    /// The target size of a request's documents, in bytes; a larger document is sent alone.
    private static let largestRequest = 4 * 1024 * 1024
    /// The largest content in a request that is not streamed, in bytes.
    private static let largestInline: Int64 = 64 * 1024 * 1024

    init(_ remote: Client) throws {
        self.remote = remote
        let scratch = try ScratchDatabase(inMemory: false)
        self.scratch = scratch
        attachmentImporter = AttachmentImporter(scratch.database) { try remote.state(of: $0).attachments }
    }

    func transaction(_ body: () throws -> Void) throws {
        try body()
        if heldBytes > Self.largestHeld {
            _ = try scratch.database.compact()
            heldBytes = 0
        }
    }

    func insert(_ revisions: [ReplicatedRevision]) throws -> [ImportOutcome] {
        let missing = try missing(revisions)
        let wanted = revisions.indices.filter {
            missing[revisions[$0].id]?.contains(revisions[$0].history.revision) ?? false
        }
        let sent = try wanted.map { try onTheWay(revisions[$0]) }
        let stored = try remote.wait { _, peer in try await peer.store(sent, branching: .allowed) }
        var outcomes = [ImportOutcome](repeating: .known, count: revisions.count)
        for (index, outcome) in zip(wanted, stored) {
            switch outcome {
            case .stored, .known: outcomes[index] = .stored
            case .refused(let error), .failed(let error):
                outcomes[index] = .failed(remote.failure(about: revisions[index].id).explained(error))
            }
        }
        return outcomes
    }

    /// The revisions that the server lacks.
    private func missing(_ revisions: [ReplicatedRevision]) throws -> [DocumentID: Set<RevisionID>] {
        let asked = revisions.map {
            ChangedDocument(sequence: .start, id: $0.id, leaves: [$0.history.revision])
        }
        let rows = try remote.wait { _, peer in try await peer.differences(from: asked) }
        return rows.reduce(into: [:]) { missing, row in missing[row.id, default: []].formUnion(row.missing) }
    }

    private func onTheWay(_ revision: ReplicatedRevision) throws -> PeerRevision {
        revision.with(
            revision.attachments.map { attachment in
                heldBytes = heldBytes.adding(clamped: attachment.encodedLength)
                return attachment.isElsewhere
                    ? attachment.onTheWay(as: .stub) : attachment.onTheWay(from: scratch.database)
            })
    }

    func saveLocal(_ id: DocumentID, _ body: DocumentBody) throws { try remote.saveLocalDocument(id, body) }

    func history(of id: DocumentID, endingIn signature: RevisionSignature) throws -> RevisionHistory? {
        try remote.state(of: id).tree.history(endingIn: signature)
    }

    func setExpiration(_ date: Date, of id: DocumentID) throws -> Bool { false }

    func keep(_ revision: RevisionID, of id: DocumentID) throws {
        let state = try remote.state(of: id)
        for leaf in state.tree.leaves where !leaf.isDeleted && leaf.revision != revision {
            if let document = state.document(leaf.revision) { _ = try remote.delete(document, keeping: []) }
        }
    }

    // A server is asked what it lacks, so a repeated import needs no place to go on from.

    func mark() throws -> JSONValue? { nil }

    func setMark(_ mark: JSONValue?) throws {}

    func save(_ documents: [Document], onConflict conflict: ImportConflict) throws -> [ImportOutcome] {
        var outcomes = [ImportOutcome](repeating: .stored, count: documents.count)
        var rest = Array(documents.indices)
        var bases: [DocumentID: RevisionID] = [:]
        // A document that lost against a concurrent write is retried on top of that.
        for attempt in 0..<10 {
            if conflict == .overwrite { bases = try winners(of: rest.map { documents[$0].id }) }
            var conflicted: [Int] = []
            for (index, error) in try send(rest, of: documents, on: bases) {
                outcomes[index] = error.map { .failed($0) } ?? .stored
                if error?.code == "conflict" { conflicted.append(index) }
            }
            rest = conflicted
            if rest.isEmpty || conflict != .overwrite || attempt == 9 { break }
        }
        if rest.isEmpty { return outcomes }
        let stored = conflict == .fail ? try winners(of: rest.map { documents[$0].id }) : [:]
        for index in rest {
            let id = documents[index].id
            if try remote.state(of: id).shown?.holdsSame(as: documents[index]) == true {
                outcomes[index] = .known
                continue
            }
            outcomes[index] = conflict == .skip ? .skipped : .failed(Self.conflict(id, stored[id]))
        }
        return outcomes
    }

    private static func conflict(_ id: DocumentID, _ winner: RevisionID?) -> CommandError {
        let stored = winner.map { "\($0)" } ?? "another revision"
        return CommandError(
            "conflict", "\"\(id)\" is new, but \(stored) is stored; read it again, merge, and retry", status: .conflict)
    }

    /// The winners of existing documents that are not deleted.
    private func winners(of ids: [DocumentID]) throws -> [DocumentID: RevisionID] {
        let body: JSONValue = ["keys": .array(Set(ids).map { .string($0.string) })]
        let rows = try remote.json("POST", "_all_docs", body: body)["rows"]?.array ?? []
        return rows.reduce(into: [:]) { winners, row in
            guard let id = row["key"]?.string, row["value"]?["deleted"] != true else { return }
            winners[DocumentID(unchecked: id)] = row["value"]?["rev"]?.string.flatMap { RevisionID($0) }
        }
    }

    /// Sends documents in requests of bounded size; returns for each the error, if any.
    private func send(
        _ indices: [Int], of documents: [Document], on bases: [DocumentID: RevisionID]
    ) throws -> [(Int, CommandError?)] {
        var outcomes: [(Int, CommandError?)] = []
        var sent: [Int] = []
        var bytes: [UInt8] = []
        func flush() throws {
            if sent.isEmpty { return }
            let text = Array("{\"docs\":[".utf8) + bytes + Array("]}".utf8)
            let rows = try remote.send("POST", "_bulk_docs", text).array ?? []
            for (place, index) in sent.enumerated() {
                outcomes.append((index, Self.refusal(place < rows.count ? rows[place] : .null, documents[index].id)))
            }
            (sent, bytes) = ([], [])
        }
        for index in indices {
            let text: [UInt8]
            do { text = try self.text(documents[index], on: bases[documents[index].id]) } catch let error
                as CommandError
            {
                outcomes.append((index, error))
                continue
            }
            if bytes.count + text.count > Self.largestRequest { try flush() }
            if !sent.isEmpty { bytes.append(UInt8(ascii: ",")) }
            bytes += text
            sent.append(index)
        }
        try flush()
        return outcomes
    }

    private func text(_ document: Document, on base: RevisionID?) throws -> [UInt8] {
        let attachments = try document.attachments.map { attachment in
            guard attachment.length <= Self.largestInline else {
                throw CommandError.invalid(
                    "\"\(attachment.name)\" of \"\(document.id)\" is too large; add it with `settle attach`")
            }
            heldBytes = heldBytes.adding(clamped: attachment.length)
            if attachment.isElsewhere { return attachment.wire() }
            return WireAttachment(
                attachment.name, contentType: attachment.contentType,
                content: .inline(try scratch.database.content(of: attachment)))
        }
        let edit = WireDocument(
            id: document.id.string, revision: base.map { .revision($0) }, body: try document.body(),
            attachments: attachments)
        return edit.bytes(.bodyLate)
    }

    private static func refusal(_ row: JSONValue, _ id: DocumentID) -> CommandError? {
        if row["rev"]?.string != nil, row["error"] == nil { return nil }
        guard let error = row["error"]?.string else {
            return CommandError("bad_answer", "the server did not answer for \"\(id)\"", status: .damaged)
        }
        let reason = row["reason"]?.string ?? ""
        return CommandError(
            error, "\"\(id)\" was refused: \(error): \(reason)", status: error == "conflict" ? .conflict : .refused)
    }
}
