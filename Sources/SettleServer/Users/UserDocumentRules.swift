internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettleReplication

/// The rules of `_users`: access to documents, and their validation. Error reasons are CouchDB's.
struct UserDocumentRules: Sendable {
    let user: User
    /// Whether the user is an administrator of the database or the server.
    let isAdmin: Bool
    /// The prefix of the ids of user documents.
    static let prefix = "org.couchdb.user:"
    /// The maximum number of iterations in a hash that a user without administrator rights writes. Each login
    /// repeats them, and few logins can run at the same time.
    private static let maximumIterations = 1_000_000

    /// Checks that a user without administrator rights may use a path of `_users`. Only single documents are
    /// allowed, because each written password costs a fifth of a second.
    ///
    /// - Throws: ``HTTPError`` with status 401, 403 or 404. Documents of other users are reported as missing.
    static func checkPath(_ path: [String], method: String, _ user: User, publicFields: Set<String>) throws {
        guard path.count > 1 else { return }
        let name = path[1]
        if name == "_design" || name == "_design_docs" || name.hasPrefix("_design/") {
            throw HTTPError.forbidden("Only administrators can view design docs in the users database.")
        }
        if name == "_security", path.count == 2 { return }
        if name.hasPrefix("_") { throw HTTPError.unauthorized("You are not a server admin.") }
        if let own = user.name, name.utf8.elementsEqual((prefix + own).utf8) { return }
        let isWhole = path.count == 2
        if isWhole, method == "PUT", user.name == nil { return }
        if isWhole, ["GET", "HEAD"].contains(method), !publicFields.isEmpty { return }
        throw HTTPError.missing
    }

    /// Checks that the user may write a document of an id.
    func check(_ id: DocumentID) throws {
        guard !isAdmin else { return }
        guard let name = user.name else {
            if id.isLocal { throw HTTPError.missing }
            return
        }
        guard id.string.utf8.elementsEqual((Self.prefix + name).utf8) else { throw HTTPError.missing }
    }

    /// Checks that a body is a valid user document.
    func check(_ body: DocumentBody, _ id: DocumentID) throws {
        guard body["type"]?.string == "user" else { throw HTTPError.forbidden("doc.type must be user") }
        guard let name = body["name"]?.string, !name.isEmpty else {
            throw HTTPError.forbidden("doc.name is required")
        }
        guard let given = body["roles"], !given.isNull else { throw HTTPError.forbidden("doc.roles must exist") }
        guard let list = given.array else { throw HTTPError.forbidden("doc.roles must be an array") }
        let roles = try list.map { item in
            guard let role = item.string else { throw HTTPError.forbidden("doc.roles can only contain strings") }
            return role
        }
        guard id.string.utf8.elementsEqual((Self.prefix + name).utf8) else {
            throw HTTPError.forbidden("Doc ID must be of the form org.couchdb.user:name")
        }
        try checkHash(body)
        if roles.contains(where: { $0.hasPrefix("_") && $0 != "_metrics" }) {
            throw HTTPError.forbidden("No system roles (starting with underscore) in users db.")
        }
        if name.hasPrefix("_") { throw HTTPError.forbidden("Username may not start with underscore.") }
        if name.utf8.contains(UInt8(ascii: ":")) {
            throw HTTPError.forbidden("Character `:` is not allowed in usernames.")
        }
    }

    /// Checks that the user may replace a document; `new` is `nil` for a deletion.
    func check(_ new: DocumentBody?, _ id: DocumentID, after old: DocumentBody?) throws {
        guard let new else {
            if user.isServerAdmin { return }
            guard let name = user.name, old?["name"] == .string(name) else {
                throw HTTPError.forbidden("Only admins may delete other user docs.")
            }
            return
        }
        try check(new, id)
        if let old, old["name"] != new["name"] { throw HTTPError.forbidden("Usernames can not be changed.") }
        guard !isAdmin else { return }
        if let iterations = new["iterations"]?.number?.double, iterations > Double(Self.maximumIterations) {
            throw HTTPError.forbidden("Iteration count is too high for this server")
        }
        let roles = Self.roles(new)
        guard let old else {
            if !roles.isEmpty { throw HTTPError.forbidden("Only _admin may set roles") }
            return
        }
        guard let name = user.name, new["name"] == .string(name) else {
            throw HTTPError.forbidden("You may only update your own user document.")
        }
        if Self.roles(old) != roles { throw HTTPError.forbidden("Only _admin may edit roles") }
    }

    /// The body, with the password replaced by its hash.
    static func hashed(_ body: DocumentBody, by hasher: PasswordHasher) throws -> DocumentBody {
        guard let password = body["password"], !password.isNull else { return body }
        guard let text = password.string else { throw HTTPError.forbidden("Password value is invalid.") }
        guard case .object(let members)? = try? JSONValue(utf8: body.utf8) else { return body }
        let others = members.filter { !PasswordHash.memberNames.contains($0.name) }.map { ($0.name, $0.value) }
        let hash = try hasher.hash(Array(text.utf8))
        return try DocumentBody(.object(JSONObject(hash.members + others)))
    }

    private func checkHash(_ body: DocumentBody) throws {
        let isSet = { (name: String) in body[name].map { $0 != nil && $0 != "" && $0 != false && $0 != 0 } ?? false }
        if isSet("password_sha"), !isSet("salt") {
            throw HTTPError.forbidden("Users with password_sha must have a salt.")
        }
        if isSet("password_scheme") {
            let scheme = body["password_scheme"]?.string ?? ""
            guard ["simple", "pbkdf2", "simple+pbkdf2"].contains(scheme) else {
                throw HTTPError.forbidden("Password scheme `\(scheme)` not supported.")
            }
            if scheme == "pbkdf2", !isSet("password") {
                guard body["iterations"]?.number != nil else {
                    throw HTTPError.forbidden("iterations must be a number.")
                }
                guard body["derived_key"]?.string != nil else {
                    throw HTTPError.forbidden("derived_key must be a string.")
                }
            }
        }
    }

    private static func roles(_ body: DocumentBody) -> [ExactText] {
        (body["roles"]?.array ?? []).compactMap(\.string).map(ExactText.init).sorted()
    }
}

// MARK: - UserDocumentEndpoints

/// Reading user documents and documents of replications by users who don't own them.
enum UserDocumentEndpoints {
    /// `GET /_users/{doc}` shows users without other rights only the public members of other users' documents, and only
    /// the leaf revisions of their own. Other documents are shown unchanged.
    static let read: Endpoint = .read { context in
        if let other = try readOther(context) { return other }
        guard context.parameter("db") == "_users", try !context.sources.security(of: "_users").isAdmin(context.user)
        else { return try DocumentEndpoints.read(context) }
        let (lookup, id) = (DocumentLookup(source: try context.source()), DocumentID(unchecked: context.documentID))
        if isOwn(context) {
            // An older revision may contain the password hash of a former user of the same name.
            let shown = try named(of: id, lookup, context)
            guard shown.allSatisfy({ $0.record.tree[$0.revision]?.isLeaf == true }) else { throw HTTPError.missing }
            return try DocumentEndpoints.read(context)
        }
        let found = try lookup.winner(id)
        let fields = context.options.security.publicUserFields.subtracting(PasswordHash.memberNames)
            .subtracting(["totp"]).map(ExactText.init)
        let members = (try JSONValue(utf8: found.content.body.utf8).object ?? JSONObject())
            .filter { fields.contains(ExactText($0.name)) }.map { ($0.name, $0.value) }
        guard !members.isEmpty else { throw HTTPError.missing }
        let head: [(String, JSONValue)] = [
            ("_id", .string(context.documentID)), ("_rev", .string(found.revision.description)),
        ]
        return .json(.object(JSONObject(head + members)))
    }

    /// `GET /_replicator/{doc}` by a user who doesn't own the document, or not all revisions that the request names:
    /// without credentials, and without a revision, because it is not the stored document. `nil` for any other request.
    private static func readOther(_ context: any ReadContext) throws -> HTTPResponse? {
        guard ReplicatorDocuments.isReplicator(context.parameter("db")), !context.user.isServerAdmin else { return nil }
        let id = DocumentID(unchecked: context.documentID)
        guard !id.isDesign, !id.isLocal else { return nil }
        let lookup = DocumentLookup(source: try context.source())
        let found = try lookup.winner(id)
        let shown = try [found] + named(of: id, lookup, context)
        guard !shown.allSatisfy({ ReplicatorDocumentRules.owns($0.content.body, context.user) }) else { return nil }
        let members = ReplicationDocument.withoutCredentials(found.content.body.json.object ?? JSONObject())
        return .json(
            .object(JSONObject([("_id", .string(id.string))] + members.map { ($0.name, $0.value) })))
    }

    /// The revisions that a request names. Another author may have written them, before the document was deleted and
    /// made anew.
    private static func named(
        of id: DocumentID, _ lookup: DocumentLookup, _ context: any ReadContext
    ) throws -> [DocumentLookup.Found] {
        let options = try DocumentOptions(context)
        let one = try options.revision.flatMap { try lookup.find($0, of: id) }.map { [$0] } ?? []
        if case .none = options.openRevisions { return one }
        let open = try lookup.open(options.openRevisions, of: id, isLatest: options.isLatest)
        return one + open.compactMap { try? $0.get() }
    }

    private static func isOwn(_ context: any ReadContext) -> Bool {
        context.user.name.map { context.documentID.utf8.elementsEqual((UserDocumentRules.prefix + $0).utf8) } ?? false
    }
}
