public import SettleCore
internal import SettlePlatform
public import SettleQuery
internal import Synchronization

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
    /// The revision that is changed: the edit's parent or, for a replicated revision, the newest ancestor whose
    /// content is kept here; `nil` for a new document or an unrelated branch. For a deletion, it is the live
    /// revision that is being deleted (SEMANTICS 118).
    public let currentRevision: Document?
    /// The origin of the new revision.
    public let origin: Origin

    /// Whether the new revision is a tombstone that closes a losing branch of a settled conflict, here or at a
    /// peer, and not a user's deletion. If a function refuses it, the conflict can't be settled.
    public var isClosing: Bool { newRevision.isDeleted && ClosingTombstone(newRevision.bodyOrEmpty) != nil }

    /// The top-level names whose values differ between the current revision and the new one, including added and
    /// removed ones; for a new document all names (SEMANTICS 121).
    ///
    /// Swift considers two spellings of one accented letter equal, so of two such names the set has one.
    public var changedKeys: Set<String> { Set(changedNames.map(\.string)) }

    /// The names in ``changedKeys``, compared by their bytes.
    private var changedNames: Set<ExactText> {
        let new = newRevision.json.object ?? JSONObject()
        let current = currentRevision?.json.object ?? JSONObject()
        return Set((new.names + current.names).map(ExactText.init)).filter { new[$0.string] != current[$0.string] }
    }

    /// Refuses the revision if it changes one of these members (SEMANTICS 122).
    ///
    /// - Throws: ``DocumentRejection`` that names the member.
    public func disallowChanges(to names: Set<String>) throws {
        if let name = changedKeys.intersection(names).min() {
            throw DocumentRejection(message: "The '\(name)' property may not be changed")
        }
    }

    /// Refuses the revision if it changes a member that is not among these (SEMANTICS 122).
    ///
    /// - Throws: ``DocumentRejection`` that names the member.
    public func allowOnlyChanges(to names: Set<String>) throws {
        if let name = changedNames.subtracting(names.map(ExactText.init)).min() {
            throw DocumentRejection(message: "The '\(name.string)' property may not be changed")
        }
    }

    /// Calls a closure for each changed member with its old and new value, until the closure refuses a change
    /// (SEMANTICS 122).
    ///
    /// - Parameter isValid: Returns whether the change is allowed.
    /// - Throws: ``DocumentRejection`` that names the first refused member, in the order of names.
    public func validateChanges(
        _ isValid: (_ name: String, _ old: JSONValue?, _ new: JSONValue?) throws -> Bool
    ) throws {
        for name in changedNames.sorted().map(\.string)
        where try !isValid(name, currentRevision?[name], newRevision[name]) {
            throw DocumentRejection(message: "Illegal change to '\(name)' property")
        }
    }
}

// MARK: - Dates

extension ValidationContext {
    /// Refuses the new revision if one of these members is present and not an ISO 8601 date (SEMANTICS 127).
    ///
    ///     database.addValidation("dates") { try $0.requireDates("created_at", "due") }
    ///
    /// A date is a string of the form `2024-02-29`, optionally followed by `T` or a blank, a time `08:30`, `08:30:06`
    /// or `08:30:06.25`, and a zone `Z`, `+01:00`, `+0100` or `+01`. A nonexistent day, like February 30, is refused. A
    /// member that is absent or null is allowed, and so is a tombstone.
    ///
    /// - Parameter names: The members.
    /// - Throws: ``DocumentRejection`` with status 403, which names the first such member and its value.
    public func requireDates(_ names: String...) throws {
        guard !newRevision.isDeleted else { return }
        for name in names {
            guard let value = newRevision[name], !value.isNull else { continue }
            guard let text = value.string, DateText.isISO8601(text) else {
                throw DocumentRejection(message: "'\(name)' is not an ISO 8601 date: \(value)")
            }
        }
    }
}

// MARK: - ValidationList

/// Decides whether a revision may be stored. It throws to refuse the revision.
///
/// It is called for every insert and update: saves, deletes, and replicated revisions (SEMANTICS 114). It runs
/// inside the write, so it should be fast and must not write to the database.
public typealias DocumentValidation = @Sendable (ValidationContext) throws -> Void

/// The validation functions of a database, by name.
final class ValidationList: Sendable {
    /// The functions, sorted by their names.
    private let functions = Guarded<[(name: String, function: DocumentValidation)]>([])
    /// Whether a function is registered. Each save checks this, so it takes no lock.
    private let hasFunctions = Atomic<Bool>(false)

    /// Registers a function under a name, replacing a previous one; `nil` removes it.
    func set(_ name: String, _ function: DocumentValidation?) {
        functions.withLock { functions in
            functions.removeAll { $0.name == name }
            if let function {
                let place = functions.firstIndex { name < $0.name } ?? functions.endIndex
                functions.insert((name: name, function: function), at: place)
            }
            hasFunctions.store(!functions.isEmpty, ordering: .releasing)
        }
    }

    var isEmpty: Bool { !hasFunctions.load(ordering: .acquiring) }

    /// Calls the functions in the order of their names; the first refusal decides (SEMANTICS 124).
    func check(_ context: ValidationContext, warn: (String) -> Void) throws {
        for (name, function) in functions.withLock({ $0 }) {
            do {
                try function(context)
            } catch let refusal as DocumentRejection {
                throw DatabaseError(
                    .refused, "validation \"\(name)\" refused \"\(context.newRevision.id)\": \(refusal.message)",
                    cause: refusal)
            } catch {
                warn("validation \"\(name)\" failed on \"\(context.newRevision.id)\": \(error)")
                let refusal = DocumentRejection(status: 500, message: "validation \"\(name)\" failed: \(error)")
                throw DatabaseError(
                    .refused, "validation \"\(name)\" failed on \"\(context.newRevision.id)\"", cause: refusal)
            }
        }
    }
}

// MARK: - Validation

extension Database {
    /// Registers a validation function under a name, replacing a previous one.
    ///
    /// It is called for every write from now on, local or replicated (SEMANTICS 114), and is not stored in the file:
    /// register it each time the database is opened, before replication starts (SEMANTICS 125). Several functions are
    /// called in the order of their names; the first refusal decides.
    public func addValidation(_ name: String, _ validation: @escaping DocumentValidation) {
        validations.set(name, validation)
    }

    /// Removes a validation function, if one with that name is registered.
    public func removeValidation(_ name: String) { validations.set(name, nil) }
}

// MARK: - DocumentRejection

/// The reason why a validation function refused a write: an HTTP status and a message for the client.
public struct DocumentRejection: Error, Hashable, Sendable, CustomStringConvertible {
    /// The HTTP status of the refusal; 403 by default. A function may choose another, such as 401 (SEMANTICS 115).
    public let status: Int
    /// The message; "invalid document" by default.
    public let message: String

    /// Creates a refusal.
    public init(status: Int = 403, message: String = "invalid document") {
        self.status = status
        self.message = message
    }

    /// The status and the message.
    public var description: String { "\(status) \(message)" }
}

// MARK: - ValidationAdapter

/// Creates validations from other databases' function types (K17).
public enum ValidationAdapter {
    /// The response object that Couchbase Lite 1 passes to a validation block. The block sets a status and a
    /// message.
    public final class Response {
        /// The status of the refusal.
        public var errorType = 403
        /// The message of the refusal; the first one that was set stays (SEMANTICS 123).
        public var errorMessage = "invalid document" {
            didSet { if hasMessage { errorMessage = oldValue } else { hasMessage = true } }
        }
        private var hasMessage = false
        fileprivate private(set) var isRejected = false

        /// Refuses the revision with a message, as in later versions of Couchbase Lite's block.
        public func reject(_ message: String = "invalid document") {
            isRejected = true
            errorMessage = message
        }

        /// Whether all of these members are unchanged. If one has changed, the message names it.
        public func disallowChanges(to names: Set<String>, in context: ValidationContext) -> Bool {
            do { try context.disallowChanges(to: names) } catch {
                errorMessage = (error as? DocumentRejection)?.message ?? errorMessage
                return false
            }
            return true
        }
    }

    /// Creates a validation from a block that returns whether the revision is valid.
    public static func returning(
        _ block: @escaping @Sendable (ValidationContext, Response) -> Bool
    ) -> DocumentValidation {
        { context in
            let response = Response()
            let isValid = block(context, response)
            if !isValid || response.isRejected {
                throw DocumentRejection(status: response.errorType, message: response.errorMessage)
            }
        }
    }

    /// Creates a validation from a block that calls `reject` for invalid revisions.
    public static func rejecting(
        _ block: @escaping @Sendable (ValidationContext, Response) -> Void
    ) -> DocumentValidation {
        returning { context, response in
            block(context, response)
            return true
        }
    }
}

// MARK: - JSONSchema

extension JSONSchema {
    /// Creates a validation function that refuses documents which violate the schema (SEMANTICS 126).
    ///
    ///     let schema = try JSONSchema(["type": "object", "required": ["title"]])
    ///     database.addValidation("note", schema.validation())
    ///
    /// The refusal has status 403 and names the position of the first problem. Tombstones, which usually have no
    /// members, are accepted (SEMANTICS 119), and so are design documents.
    ///
    /// - Parameter isConcerned: Returns whether to check a document that is neither a tombstone nor a design
    ///   document; by default always `true`.
    /// - Returns: The function, for ``Database/addValidation(_:_:)``.
    public func validation(
        for isConcerned: @escaping @Sendable (Document) -> Bool = { _ in true }
    ) -> DocumentValidation {
        { context in
            let document = context.newRevision
            guard !document.isDeleted, !document.id.isDesign, isConcerned(document) else { return }
            guard let problem = problems(in: document.json).first else { return }
            throw DocumentRejection(message: problem.description)
        }
    }
}
