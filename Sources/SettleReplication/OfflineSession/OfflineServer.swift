internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The server of an offline session: any CouchDB, accessed one document at a time.
///
/// An edit is a `PUT` with the `_rev` it is based on, so the server does the comparison: it accepts the edit only
/// while that revision is the winner.
struct OfflineServer: Sendable {
    /// A document's state at the server.
    struct State: Sendable {
        /// The winner and its ancestors, newest first; `nil` for a document that is deleted or never existed.
        var history: RevisionHistory?
        /// Its content, with attachments as digests.
        var body: DocumentBody?
        /// The names, types, digests, lengths and encodings of its attachments, as the server reports them.
        var attachments: [WireAttachment] = []
        /// Whether it was deleted at the server, rather than never created.
        var isDeleted = false
        /// The server's time, in milliseconds since 1970.
        var date: Date?

        /// Whether these are its attachments, with the same names, types and digests.
        func hasAttachments(_ expected: [DocumentAttachment]) -> Bool {
            hasAttachments(expected) { $0.digest == $1.digest.description }
        }

        /// Whether its attachments can be the result of an edit with these.
        ///
        /// Of a compressed attachment the digest is that of the compressed bytes, which differ between versions of
        /// zlib and levels. So an equal length is enough for one that is compressed here or at the server.
        func canResult(from sent: [DocumentAttachment]) -> Bool {
            hasAttachments(sent) { found, one in
                let isCompressed = found.encoding != nil || one.encoding == .gzip
                return found.digest == one.digest.description || isCompressed && found.length == one.length
            }
        }

        private func hasAttachments(
            _ expected: [DocumentAttachment], _ isSame: (WireAttachment, DocumentAttachment) -> Bool
        ) -> Bool {
            expected.count == attachments.count
                && expected.allSatisfy { one in
                    attachments.contains {
                        one.isNamed($0.name) && $0.contentType == one.contentType && isSame($0, one)
                    }
                }
        }
    }

    /// An edit to send.
    struct Edit: Sendable {
        var id: DocumentID
        var base: RevisionID?
        var isDeleted = false
        var body: DocumentBody
        var attachments: [WireAttachment] = []

        /// The form in which the edit is sent. `hasID` says whether it contains the document's id.
        func wire(hasID: Bool) -> WireDocument {
            WireDocument(
                id: hasID ? id.string : nil, revision: base.map { .revision($0) }, isDeleted: isDeleted, body: body,
                attachments: attachments)
        }
    }

    let peer: CouchDBPeer

    /// Sends an edit.
    ///
    /// - Returns: The revision that the server created, and the server's time.
    /// - Throws: ``PeerError`` with code `conflict` if the document has changed at the server.
    func put(_ edit: Edit) async throws -> (revision: RevisionID, date: Date?) {
        let calls = try peer.calls()
        let path = HTTPPath.document(edit.id)
        let response = try await calls.stream(
            path.isExact ? "PUT" : "POST", path.isExact ? path : "",
            json: edit.wire(hasID: !path.isExact).bytes(.bodyLate))
        let (json, date) = try await read(response, .document(edit.id))
        guard let revision = json["rev"]?.string.flatMap({ RevisionID($0) }) else {
            throw PeerError(.badAnswer, "\(calls.place(.document(edit.id))) took an edit and did not say as what")
        }
        return (revision, date)
    }

    /// A document's current state at the server, or its state as of a revision.
    func state(of id: DocumentID, at revision: RevisionID? = nil) async throws -> State {
        let calls = try peer.calls()
        var query: HTTPQuery = ["revs": "true", "att_encoding_info": "true"]
        if let revision { query["rev"] = revision.description }
        do {
            let response = try await calls.stream("GET", .document(id), query: query)
            let date = Self.date(response)
            let bytes = try await response.collect(limit: 64 << 20)
            let document = try bytes.withUnsafeBufferPointer { try WireDocument(reading: $0) }
            let fetched = try PeerRevision(document)
            return State(
                history: fetched.history, body: fetched.isDeleted ? nil : fetched.body,
                attachments: document.attachments, isDeleted: fetched.isDeleted, date: date)
        } catch {
            let error = PeerError(error, at: calls.place(.document(id)))
            guard error.code == .notFound, revision == nil else { throw error }
            // The document or the database does not exist.
            return State(isDeleted: error.serverWords == "deleted", date: try await time())
        }
    }

    /// The server's time; also checks that the database can be reached.
    func time() async throws -> Date? {
        let calls = try peer.calls()
        return try await read(calls.stream("GET", ""), "").date
    }

    /// An id from the server.
    func newID() async throws -> DocumentID {
        let calls = try peer.calls()
        let json = try await calls.server.json("GET", "_uuids", query: ["count": "1"])
        guard let id = json["uuids"]?[0]?.string.flatMap({ try? DocumentID(validating: $0) }) else {
            throw PeerError(.badAnswer, "\(calls.server.place("_uuids")) gave no id")
        }
        return id
    }

    private func read(_ response: HTTPResponse, _ path: HTTPPath) async throws -> (json: JSONValue, date: Date?) {
        let place = try peer.calls().place(path)
        do {
            return (try JSONValue(utf8: try await response.collect(limit: 1 << 20)), Self.date(response))
        } catch { throw PeerError(error, at: place) }
    }

    private static func date(_ response: HTTPResponse) -> Date? {
        response.headers["Date"].flatMap { HTTPDate.seconds(of: $0) }.map { Date(timeIntervalSince1970: $0) }
    }
}
