public import SettleCore
public import SettleQuery

/// A document that an app reads, changes and saves. It is a value that contains the revision it was read at.
///
///     var milk = try database.document("milk") ?? Document(id: "milk", body: ["name": "Milk"])
///     milk["count"] = 2
///     milk = try database.save(milk, onConflict: .fail)
///
/// Changes stay in memory until the document is saved; saving returns it with its new revision.
public struct Document: Sendable, Identifiable {
    private enum Content: Sendable {
        case body(DocumentBody)
        case members(JSONObject)
    }

    /// The document's id.
    public let id: DocumentID
    /// The revision it was read at or saved as, on which the next save is based; `nil` if it was never saved.
    public internal(set) var revision: RevisionID?
    /// Whether that revision is a tombstone.
    public internal(set) var isDeleted: Bool
    /// The attachments, in order; the order is part of the revision id (SEMANTICS 198).
    public var attachments: [DocumentAttachment]
    /// The database it was read from; 0 if the app created it.
    let origin: UInt64
    private var content: Content

    /// Creates a new document. Without an id it gets a unique one.
    public init(id: DocumentID = .unique(), body: DocumentBody = .empty, attachments: [DocumentAttachment] = []) {
        self.init(id: id, revision: nil, isDeleted: false, RevisionContent(body: body, attachments: attachments))
    }

    /// Creates a new document with an id that is text or the id of a model; `nil` creates an id.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid` for an invalid id.
    @_disfavoredOverload
    public init(
        id: some DocumentIDConvertible, body: DocumentBody = .empty, attachments: [DocumentAttachment] = []
    ) throws {
        self.init(id: try id.checked() ?? .unique(), body: body, attachments: attachments)
    }

    package init(
        id: DocumentID, revision: RevisionID?, isDeleted: Bool, _ content: RevisionContent, origin: UInt64 = 0
    ) {
        self.origin = origin
        self.id = id
        self.revision = revision
        self.isDeleted = isDeleted
        self.attachments = content.attachments
        self.content = .body(content.body)
    }

    /// The members as a value. Setting a value that is not an object removes all members.
    ///
    /// - Complexity: O(*n*) in bytes for an unchanged document.
    public var json: JSONValue {
        get {
            switch content {
            case .body(let body): body.json
            case .members(let members): .object(members)
            }
        }
        set { content = .members(newValue.object ?? JSONObject()) }
    }

    /// One top-level member; `nil` if it is absent. Setting `nil` removes it. If a body is nested too deep, setting
    /// a member does not change it, and saving throws.
    public subscript(name: String) -> JSONValue? {
        get {
            switch content {
            case .body(let body): body[name]
            case .members(let members): members[name]
            }
        }
        set {
            if case .body(let body) = content, body.fault?.code == .tooDeep { return }
            var members = json.object ?? JSONObject()
            members[name] = newValue
            content = .members(members)
        }
    }

    /// The members in their stored form.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid` if a member whose name starts with an underscore was set
    ///   (SEMANTICS 89), or if the members are nested deeper than ``JSONLimits/depth``, with the ``JSONError`` as
    ///   cause.
    public func body() throws -> DocumentBody {
        switch content {
        case .body(let body):
            try body.check(of: id)
            return body
        case .members(let members):
            do { return try DocumentBody(.object(members)) } catch { throw DatabaseError.notStorable(error, id) }
        }
    }

    /// The members in their stored form; empty if ``body()`` would throw.
    package var bodyOrEmpty: DocumentBody { (try? body()) ?? .empty }

    /// Replaces all members.
    public mutating func setBody(_ body: DocumentBody) { content = .body(body) }

    /// Adds an attachment at the front, as CouchDB orders them, and replaces one of the same name.
    public mutating func attach(_ attachment: DocumentAttachment) {
        attachments.removeAll { $0.isNamed(attachment.name) }
        attachments.insert(attachment, at: 0)
    }

    /// Removes an attachment; returns whether it existed.
    @discardableResult
    public mutating func detach(_ name: String) -> Bool {
        let count = attachments.count
        attachments.removeAll { $0.isNamed(name) }
        return attachments.count < count
    }

    /// The attachment with a name.
    public func attachment(_ name: String) -> DocumentAttachment? { attachments.first { $0.isNamed(name) } }
}

extension DocumentBody {
    /// Checks that the body can be stored.
    ///
    /// - Parameter id: The document of the body.
    /// - Throws: ``DatabaseError`` with code `invalid`.
    func check(of id: DocumentID) throws {
        if let fault { throw DatabaseError.notStorable(fault, id) }
    }
}

extension DatabaseError {
    /// The error for a document whose body can't be stored.
    fileprivate static func notStorable(_ fault: JSONError, _ id: DocumentID) -> DatabaseError {
        let remedy =
            switch fault.code {
            case .reservedMember: "; give it another name"
            case .tooDeep: "; store the inner values as documents of their own"
            default: ""
            }
        return DatabaseError(
            .invalid, "the body of \"\(id)\" can't be stored: \(fault.message)\(remedy)", cause: fault)
    }
}

extension Document: Equatable {
    /// Whether id, revision, members and attachments are equal.
    public static func == (left: Document, right: Document) -> Bool {
        left.id == right.id && left.revision == right.revision && left.isDeleted == right.isDeleted
            && left.json == right.json && left.attachments == right.attachments
    }
}

// MARK: - DocumentEdit

/// A write by CouchDB's rules for interactive edits: a document's new content, and the revision it is based on.
package struct DocumentEdit: Sendable {
    /// The document's id.
    package var id: DocumentID
    /// The leaf that is edited; `nil` to create a document, or to revive a deleted one.
    package var parent: RevisionID?
    /// Whether it deletes the document; a tombstone may be a document's first revision.
    package var isDeleted: Bool
    /// The members.
    package var body: DocumentBody
    /// The attachments, in order.
    package var attachments: [DocumentAttachment]
    /// Whether the parent may be any known revision, so that the edit may begin a branch; as ``SaveConflict/branch``.
    package var branches = false
    /// Where the revision id is computed ahead, for an edit of a batch.
    var forecast: RevisionForecast.Place?

    /// Creates an edit.
    package init(
        id: DocumentID, parent: RevisionID?, isDeleted: Bool = false, body: DocumentBody,
        attachments: [DocumentAttachment] = []
    ) {
        self.id = id
        self.parent = parent
        self.isDeleted = isDeleted
        self.body = body
        self.attachments = attachments
    }
}

// MARK: - SaveConflict

/// The action of a save or a delete if the document was changed since it was read. The default is ``fail``, which
/// loses no edit: an app chooses silent overwriting explicitly (K5).
public enum SaveConflict: Sendable {
    /// Nothing is written, and the call throws `conflict` (SEMANTICS 47).
    case fail
    /// The write is based on the current revision, deleted or not: intervening edits are overwritten
    /// (SEMANTICS 46, 49, 50).
    case lastWriteWins
    /// Like ``lastWriteWins``, but a deletion wins over any save: if the document was deleted since it was read,
    /// nothing is written and a save throws `conflict`. A delete is based on the current revision.
    ///
    /// ``ConflictPolicy/deletesWin`` applies to replicated edits, this option to saves (K6).
    case deletesWin
    /// The write creates a branch: an edit of the revision the document was read at, even if that has been edited
    /// since. Both edits stay, and the document is in conflict until it is settled (SEMANTICS 145). A document
    /// without a revision gets another first revision.
    case branch
    /// A handler changes the document to be saved, given the current one, or refuses (SEMANTICS 52–58).
    ///
    /// It is called only if there is a conflict, and again after each intervening write. No transaction is open
    /// meanwhile, unless the caller has opened one. `current` is `nil` if the document is deleted. If it returns `false`
    /// or throws, the call fails with `conflict`, and nothing is written.
    case merge(@Sendable (_ new: inout Document, _ current: Document?) throws -> Bool)
}

// MARK: - MangoSelector

extension MangoSelector {
    /// Whether a document matches, with its `_id`, its `_rev`, `_deleted` for a tombstone, and `_attachments` as
    /// stubs.
    ///
    /// - Complexity: O(*n*) in bytes of the document.
    public func matches(_ document: Document) -> Bool {
        var members: [(String, JSONValue)] = [("_id", .string(document.id.string))]
        if let revision = document.revision { members.append(("_rev", .string(revision.description))) }
        if document.isDeleted { members.append(("_deleted", true)) }
        for member in document.json.object ?? [:] { members.append((member.name, member.value)) }
        if !document.attachments.isEmpty {
            members.append((WireAttachment.listName, WireAttachment.json(document.attachments.map { $0.wire() })))
        }
        return matches(JSONValue.object(JSONObject(members)))
    }
}

// MARK: - Wire

extension Document {
    /// The document in the form of CouchDB's API, with its attachments as stubs.
    package var wire: WireDocument {
        WireDocument(
            id: id.string, revision: revision.map { .revision($0) }, isDeleted: isDeleted, body: bodyOrEmpty,
            attachments: attachments.map { $0.wire() })
    }
}
