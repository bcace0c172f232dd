public import SettleCore
public import SettleDatabase

/// An operation that the server refused, with three sides: the document before it, after it, and at the server.
public struct OfflineConflict: Sendable, Hashable {
    /// The reason why it was refused.
    public enum Reason: Sendable, Hashable {
        /// The document was changed at the server since this client read it.
        case changed
        /// It can't be stored regardless of the document's state at the server: because of permissions, a validation,
        /// or its size, or because it has more bytes of attachments than ``OfflineSessionOptions/largestAttachments``.
        case refused(String)
    }

    /// The number of the operation's entry in the journal.
    public let number: Int64
    /// The document.
    public let documentID: DocumentID
    /// The kind of the operation.
    public let operation: JournalEntry.Operation
    /// The document before the operation; `nil` for a create.
    public let old: RevisionContent?
    /// The document after the operation; `nil` for a deletion.
    public let new: RevisionContent?
    /// The document's members at the server; `nil` if it is deleted there or never existed.
    public let server: DocumentBody?
    /// Whether the document was deleted at the server. If not, and ``server`` is `nil`, it never existed there.
    public let isDeletedAtServer: Bool
    /// The server's revision and its ancestors.
    let serverHistory: RevisionHistory?
    /// The reason why it was refused.
    public let reason: Reason
    /// The server's own message, like `Document update conflict.` or that of a validation; empty if there was none.
    public let message: String

    /// The server's revision; `nil` if the document is deleted or never existed there.
    public var serverRevision: RevisionID? { serverHistory?.revision }
}

extension OfflineConflict {
    /// A member that differs between the three sides.
    public struct Difference: Sendable, Hashable {
        /// The member's name.
        public let name: String
        /// Its value before the operation; `nil` if it was absent.
        public let old: JSONValue?
        /// Its value after the operation; `nil` if the operation removes it.
        public let new: JSONValue?
        /// The server's value; `nil` if it is absent.
        public let server: JSONValue?

        /// Whether both sides changed it to different values, so that a person has to decide.
        public var isClash: Bool { new != old && server != old && new != server }
    }

    /// The members that differ between the document before the operation, after it, and at the server
    /// (SEMANTICS 177, 180).
    ///
    /// They are in the order of the operation's result; members that it lacks follow. Attachments are not compared.
    ///
    /// - Complexity: O(*n* *m*) in members.
    public var differences: [Difference] {
        let sides = [new?.body, old?.body, server].map { $0?.json.object ?? JSONObject() }
        var names: [String] = []
        for name in sides.flatMap(\.names) where !names.contains(where: { $0.hasSameBytes(as: name) }) {
            names.append(name)
        }
        return names.compactMap { name in
            let (new, old, server) = (sides[0][name], sides[1][name], sides[2][name])
            return new == old && old == server ? nil : Difference(name: name, old: old, new: new, server: server)
        }
    }
}
