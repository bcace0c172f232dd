public import SettleCore
public import SettleDatabase
internal import SettleHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The result of sending one object's changes to a server.
public struct LocalChangeOutcome: Sendable, Hashable {
    /// The result of the change of one attribute.
    public enum Attribute: Sendable, Hashable {
        /// The server stored the value.
        case applied
        /// A later change wins: its value, `nil` for a removed member, and its time, if known.
        case superseded(by: JSONValue?, time: Date?)
        /// The object was deleted later.
        case deleted(time: Date?)
    }

    /// The type under which it was sent.
    public let type: String
    /// The object.
    public let documentID: DocumentID
    /// The revision that has the changes; `nil` if the object was refused.
    public let revision: RevisionID?
    /// The result for each attribute; empty if the object was refused.
    public let attributes: [String: Attribute]
    /// Why the object was refused, as reported by the server, like `forbidden: …`; `nil` if it was accepted.
    public let refusal: String?

    /// Reads one object of an answer; `nil` for a value of another form.
    init?(_ json: JSONValue, type: String) {
        guard let id = json["id"]?.string.flatMap({ try? DocumentID(validating: $0) }) else { return nil }
        self.type = type
        documentID = id
        revision = json["rev"]?.string.flatMap { RevisionID($0) }
        let rows = (json["changes"]?.array ?? []).compactMap { row -> (String, Attribute)? in
            row["attribute"]?.string.map { ($0, Attribute(row)) }
        }
        attributes = Dictionary(rows) { $1 }
        refusal = json["error"]?.string.map { error in
            [error, json["reason"]?.string ?? ""].filter { !$0.isEmpty }.joined(separator: ": ")
        }
    }
}

extension LocalChangeOutcome.Attribute {
    fileprivate init(_ row: JSONValue) {
        guard row["outcome"] == "superseded" else {
            self = .applied
            return
        }
        let time = row["by"]?["timestamp"]?.double.map { Date(timeIntervalSince1970: $0) }
        self = row["by"]?["deleted"] == true ? .deleted(time: time) : .superseded(by: row["by"]?["value"], time: time)
    }
}

// MARK: - Local Changes

extension CouchDBPeer {
    /// Sends attribute changes to a Settle server whose database has attribute clocks: `POST /{db}/_local_changes`.
    /// It is for thin clients that keep no revisions.
    ///
    /// A server's database has attribute clocks only after an administrator has sent `PUT /{db}/_attribute_clocks`
    /// with the body `true`.
    ///
    ///     let outcomes = try await peer.sendLocalChanges(journal.pendingByType())
    ///
    /// The later change of each attribute wins, in whatever order clients send them, so sending changes twice is
    /// harmless. Objects without changes, including deleted ones, are not sent. The server refuses an object whose
    /// attachments have changed, with all of its changes: replicate it instead.
    ///
    /// - Parameter changes: The changes by type and id (SEMANTICS 149), with the times that the server compares.
    /// - Returns: The outcome of each object, ordered by type and id.
    /// - Throws: ``PeerError``: `notFound` if the server is not a Settle server, `badRequest` if the database has no
    ///   attribute clocks, `badAnswer`.
    public func sendLocalChanges(
        _ changes: [String: [DocumentID: [PendingChange.Attribute]]]
    ) async throws -> [LocalChangeOutcome] {
        let types = try changes.sorted { $0.key < $1.key }.compactMap { type, objects -> (String, JSONValue)? in
            let rows = try objects.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }.map {
                id, attributes -> JSONValue in
                ["id": .string(id.string), "changes": .array(try attributes.map { try JSONValue(encoding: $0) })]
            }
            return rows.isEmpty ? nil : (type, .array(rows))
        }
        guard !types.isEmpty else { return [] }
        let answer = try await calls().json("POST", "_local_changes", json: JSONValue.object(JSONObject(types)).utf8)
        return types.flatMap { type, _ in
            (answer[type]?.array ?? []).compactMap { LocalChangeOutcome($0, type: type) }
        }
    }
}
