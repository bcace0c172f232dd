internal import SettleCore
internal import SettleDatabase
internal import SettleReplication

/// Who may read and write the documents of a replicator's database, and what may be in them.
///
/// A document belongs to who wrote it first, its `owner`. Others but the server's administrators may not change it, and see
/// it without its credentials. Lists, feeds and everything else that shows many documents are the administrators' alone.
struct ReplicatorDocumentRules: Sendable {
    let user: User

    /// Sees that somebody may use a path below the database.
    func checkPath(_ path: [String], method: String) throws {
        guard !user.isServerAdmin, path.count > 1 else { return }
        let isWhole = path.count == 2
        switch path[1] {
        case "_security", "_revs_limit": if ["GET", "HEAD"].contains(method) { return }
        case "_bulk_docs", "_ensure_full_commit", "_revs_diff", "_missing_revs": if isWhole { return }
        case let name where !name.hasPrefix("_"):
            // Copying would show a document to whom it does not belong.
            if isWhole, method != "COPY" { return }
        default: break
        }
        throw HTTPError.unauthorized("You are not a server admin.")
    }

    /// Sees that somebody may bring revisions with their history, with any owner in them.
    func checkReplicated() throws {
        if !user.isServerAdmin {
            throw HTTPError.forbidden("Only server admins may bring revisions into a replicator database.")
        }
    }

    /// The body to store: with its owner, and such that it says a replication.
    func prepared(_ body: DocumentBody) throws -> DocumentBody {
        guard var members = body.json.object else { return body }
        let name = user.name.map(JSON.string) ?? .null
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

    /// Sees that a document may follow on another.
    func check(after old: DocumentBody?) throws {
        guard !user.isServerAdmin, let old else { return }
        guard Self.owns(old, user) else { throw Self.notYours }
    }

    /// Whether a document is somebody's own. One who did not log in has none: anybody could be that.
    static func owns(_ body: DocumentBody, _ user: User) -> Bool {
        guard let name = user.name, let owner = body["owner"]?.string else { return false }
        return owner.utf8.elementsEqual(name.utf8)
    }

    private static var notYours: HTTPError {
        .forbidden("Can't update replication documents from other users.")
    }
}
