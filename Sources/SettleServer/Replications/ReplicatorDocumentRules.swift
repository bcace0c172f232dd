internal import SettleCore
internal import SettleDatabase
internal import SettleReplication

/// The access rules of documents in a replicator database, and their validation.
///
/// A document belongs to its author, the `owner`. Other users, except for the server's administrators, may not
/// change it, and see it without its credentials. Local documents, lists, feeds and other requests for many documents
/// are for administrators only.
struct ReplicatorDocumentRules: Sendable {
    let user: User

    /// Checks that the user may use a path below the database.
    func checkPath(_ path: [String], method: String) throws {
        guard !user.isServerAdmin, path.count > 1 else { return }
        let isWhole = path.count == 2
        switch path[1] {
        case "_security", "_revs_limit": if ["GET", "HEAD"].contains(method) { return }
        case "_bulk_docs", "_ensure_full_commit", "_revs_diff", "_missing_revs": if isWhole { return }
        case let name where !name.hasPrefix("_"):
            // Copying would show the document to a user who doesn't own it.
            if isWhole, method != "COPY" { return }
        default: break
        }
        throw HTTPError.unauthorized("You are not a server admin.")
    }

    /// Checks that the user may write a document of an id. Local documents have no owner, and one of them has the
    /// paused replications of all users.
    ///
    /// - Throws: ``HTTPError`` with status 401 or 403.
    func check(_ id: DocumentID) throws {
        if id.isLocal, !user.isServerAdmin { throw HTTPError.notAdmin(user) }
    }

    /// Checks that the user may write revisions with their history, which may name any owner.
    func checkReplicated() throws {
        if !user.isServerAdmin {
            throw HTTPError.forbidden("Only server admins may bring revisions into a replicator database.")
        }
    }

    /// The body to store: with its owner, and validated as a replication.
    func prepared(_ body: DocumentBody) throws -> DocumentBody {
        guard var members = body.json.object else { return body }
        let name = user.name.map(JSONValue.string) ?? .null
        let given = members["owner"]
        if given == nil || (given == .null && user.isServerAdmin) {
            members["owner"] = name
        } else if given != name, !user.isServerAdmin {
            throw Self.notYours
        }
        if members["_replication_state"] != "failed" {
            let document: ReplicationDocument
            do { document = try ReplicationDocument(members) } catch { throw HTTPError.forbidden(error.message) }
            if let problem = document.source.problem ?? document.target.problem { throw HTTPError.forbidden(problem) }
        }
        return given == members["owner"] ? body : try DocumentBody(.object(members))
    }

    /// Checks that the user may replace a document.
    func check(after old: DocumentBody?) throws {
        guard !user.isServerAdmin, let old else { return }
        guard Self.owns(old, user) else { throw Self.notYours }
    }

    /// Whether a document belongs to the user. Anonymous clients own no document, because anyone could be one.
    static func owns(_ body: DocumentBody, _ user: User) -> Bool {
        guard let name = user.name, let owner = body["owner"]?.string else { return false }
        return owner.utf8.elementsEqual(name.utf8)
    }

    private static var notYours: HTTPError {
        .forbidden("Can't update replication documents from other users.")
    }
}
