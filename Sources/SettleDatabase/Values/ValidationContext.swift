public import SettleCore

/// The argument of a validation function: a revision that is about to be stored.
///
///     database.addValidation("task") { context in
///         if context.newRevision.isDeleted { return }
///         try context.disallowChanges(to: ["owner"])
///         guard context.newRevision["title"]?.string != nil else {
///             throw DocumentRejection(message: "a task needs a title")
///         }
///     }
public struct ValidationContext: Sendable {
    /// The origin of a revision.
    public enum Origin: Hashable, Sendable {
        /// The app saved or deleted it.
        case local
        /// It was replicated.
        case replication
    }

    /// The revision to be stored. A tombstone usually has no members, so check `isDeleted` first (SEMANTICS 119).
    public let newRevision: Document
    /// The revision that is changed: the edit's parent or, for a replicated revision, the newest ancestor whose content
    /// is kept here; `nil` for a new document or an unrelated branch. For a deletion it is the live revision that is
    /// being deleted (SEMANTICS 118).
    public let currentRevision: Document?
    /// The origin of the new revision.
    public let origin: Origin

    /// Whether the new revision is a tombstone that closes a losing branch of a settled conflict, here or at a peer,
    /// and not a user's deletion. A function that refuses it makes the conflict impossible to settle.
    public var isClosing: Bool { newRevision.isDeleted && ClosingTombstone(newRevision.bodyOrEmpty) != nil }

    /// The top-level names whose values differ between the current revision and the new one, including those added and
    /// removed; all names for a new document (SEMANTICS 121).
    public var changedKeys: Set<String> {
        let new = newRevision.json.object ?? JSONObject()
        let current = currentRevision?.json.object ?? JSONObject()
        return Set(new.names + current.names).filter { new[$0] != current[$0] }
    }

    /// Refuses the revision if it changes one of these members (SEMANTICS 122).
    ///
    /// - Throws: ``DocumentRejection`` that names the member.
    public func disallowChanges(to names: Set<String>) throws {
        if let name = changedKeys.intersection(names).min() {
            throw DocumentRejection(message: "The '\(name)' property may not be changed")
        }
    }

    /// Refuses the revision if it changes any other member (SEMANTICS 122).
    ///
    /// - Throws: ``DocumentRejection`` that names a member.
    public func allowOnlyChanges(to names: Set<String>) throws {
        if let name = changedKeys.subtracting(names).min() {
            throw DocumentRejection(message: "The '\(name)' property may not be changed")
        }
    }

    /// Calls a closure for each changed member with its old and new value, until it refuses one (SEMANTICS 122).
    ///
    /// - Parameter isValid: Returns whether the change is allowed.
    /// - Throws: ``DocumentRejection`` that names the first refused member, in the order of names.
    public func validateChanges(
        _ isValid: (_ name: String, _ old: JSONValue?, _ new: JSONValue?) throws -> Bool
    ) throws {
        for name in changedKeys.sorted() where try !isValid(name, currentRevision?[name], newRevision[name]) {
            throw DocumentRejection(message: "Illegal change to '\(name)' property")
        }
    }
}
