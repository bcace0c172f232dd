internal import SettleCore
internal import SettleDatabase

/// Finds accounts: the server's administrators, then the documents of `_users`.
struct Accounts: Sendable {
    let administration: Administration
    let databases: DatabasePool

    /// The account of a name.
    ///
    /// - Throws: ``HTTPError`` with status 401 for a user whose document has a conflict: which password counts, is not
    ///   known.
    func find(_ name: String) throws -> Account? {
        if let hash = administration.hash(of: name) {
            let roles = ["_admin"] + (try administratorsRoles(name))
            return Account(name: name, roles: roles, password: hash, salt: hash.salt)
        }
        guard let (body, isConflicted) = try document(of: name) else { return nil }
        guard !isConflicted else {
            throw HTTPError.unauthorized(
                "User document conflicts must be resolved before the document is used for authentication purposes.")
        }
        var account = Account(
            name: name, roles: Self.roles(body), password: PasswordHash(body), salt: body["salt"]?.string ?? "")
        if let factor = body["totp"] { account.secondFactor = TimeCode(factor).map { .code($0) } ?? .unknown }
        return account
    }

    /// The roles that an administrator of the server has beside that: those of the user's document with the name. A users
    /// database that can't be read keeps no administrator out.
    private func administratorsRoles(_ name: String) throws -> [String] {
        do { return try document(of: name).map { Self.roles($0.body) } ?? [] } catch is DatabaseError { return [] }
    }

    /// The user's document of a name, as every read shows it; `nil` when it does not exist.
    private func document(of name: String) throws -> (body: DocumentBody, isConflicted: Bool)? {
        guard !name.isEmpty, let users = try databases.openIfThere("_users") else { return nil }
        let id = DocumentID(unchecked: UserDocumentRules.prefix + name)
        guard let record = try users.record(of: id), let winner = record.tree.winner, !winner.isDeleted,
            let body = record.content?.body
        else { return nil }
        return (body, record.tree.isConflicted)
    }

    /// The roles in a document. A system's role can't come from one, however the document came here.
    private static func roles(_ body: DocumentBody) -> [String] {
        (body["roles"]?.array ?? []).compactMap(\.string).filter { !$0.hasPrefix("_") || $0 == "_metrics" }
    }
}
