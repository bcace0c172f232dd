internal import RevisionTree
internal import SettleDatabase

/// Finds accounts: the server's administrators, then the documents of `_users`.
struct Accounts: Sendable {
    let administration: Administration
    let databases: DatabasePool

    /// The account of a name.
    func find(_ name: String) throws -> Account? {
        if let hash = administration.hash(of: name) {
            return Account(name: name, roles: ["_admin"], password: hash, salt: hash.salt)
        }
        guard !name.isEmpty else { return nil }
        let users: Database
        do { users = try databases.open("_users") } catch let error as HTTPError where error.status == 404 {
            return nil
        }
        let id = DocumentID(unchecked: UserDocumentRules.prefix + name)
        guard let record = try users.record(of: id), let winner = record.tree.winner, !winner.isDeleted,
            let body = record.content?.body
        else { return nil }
        // A system's role can't come from a document, however the document came here.
        let roles = (body["roles"]?.array ?? []).compactMap(\.string).filter {
            !$0.hasPrefix("_") || $0 == "_metrics"
        }
        var account = Account(
            name: name, roles: roles, password: PasswordHash(body), salt: body["salt"]?.string ?? "")
        if let factor = body["totp"] { account.secondFactor = TimeCode(factor).map { .code($0) } ?? .unknown }
        return account
    }
}
