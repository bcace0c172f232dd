internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform
internal import SettleViews

/// Looks up accounts: the server's administrators first, then the documents of `_users`.
struct Accounts: Sendable {
    let administration: Administration
    /// Documents that need not be read again; `nil` where reading is as fast.
    let known: UserDocuments?

    /// The account of a name.
    ///
    /// - Throws: ``HTTPError`` with status 401 for a user whose document has a conflict: which password counts, is not
    ///   known; ``NotAtHand`` when the document would have to be waited for, and must not.
    func find(_ name: String, in databases: any DatabaseSource) throws -> Account? {
        if let hash = administration.hash(of: name) {
            let roles = ["_admin"] + (try administratorsRoles(name, databases))
            return Account(name: name, roles: roles, password: hash, salt: hash.salt)
        }
        guard let found = try document(of: name, databases) else { return nil }
        guard !found.isConflicted else {
            throw HTTPError.unauthorized(
                "User document conflicts must be resolved before the document is used for authentication purposes.")
        }
        let body = found.body
        var account = Account(
            name: name, roles: Self.roles(body), password: PasswordHash(body), salt: body["salt"]?.string ?? "")
        if let factor = body["totp"] { account.secondFactor = TimeCode(factor).map { .code($0) } ?? .unknown }
        return account
    }

    /// The roles that an administrator of the server has beside that: those of the user's document with the name. A users
    /// database that can't be read keeps no administrator out.
    private func administratorsRoles(_ name: String, _ databases: any DatabaseSource) throws -> [String] {
        do { return try document(of: name, databases).map { Self.roles($0.body) } ?? [] } catch is DatabaseError {
            return []
        }
    }

    /// The user's document of a name, as every read shows it; `nil` when it does not exist.
    private func document(of name: String, _ databases: any DatabaseSource) throws -> UserDocuments.Found? {
        guard !name.isEmpty, let users = try databases.sourceIfThere("_users") else { return nil }
        guard let known else { return try read(name, users) }
        return try known.find(name, in: users.database) { try read(name, users) }
    }

    private func read(_ name: String, _ users: any QuerySource) throws -> UserDocuments.Found? {
        let id = DocumentID(unchecked: UserDocumentRules.prefix + name)
        guard let record = try users.record(of: id), let winner = record.tree.winner, !winner.isDeleted,
            let body = record.content?.body
        else { return nil }
        return UserDocuments.Found(body: body, isConflicted: record.tree.isConflicted)
    }

    /// The roles in a document. System roles are ignored, even if they were written directly to the database.
    private static func roles(_ body: DocumentBody) -> [String] {
        (body["roles"]?.array ?? []).compactMap(\.string).filter { !$0.hasPrefix("_") || $0 == "_metrics" }
    }
}

/// The codes of an account's second factor (TOTP, RFC 6238), which change every half minute.
///
/// A user's document has it in CouchDB's form: `"totp": {"key": "GEZDGNBV…", "algorithm": "sha", "length": 6}`, the key in base32.
struct TimeCode: Sendable {
    private let key: [UInt8]
    private let function: HashFunction
    private let length: Int
    private static let period = 30

    /// Reads it; `nil` for invalid input, which prevents authentication.
    init?(_ json: JSONValue) {
        guard let key = json["key"]?.string.flatMap(Base32.decode), !key.isEmpty,
            let function = HashFunction(rawValue: json["algorithm"].map { $0.string ?? "" } ?? "sha")
        else { return nil }
        let length = json["length"].map { $0.int ?? 0 } ?? 6
        guard (6...8).contains(length) else { return nil }
        (self.key, self.function, self.length) = (key, function, length)
    }

    /// Whether a code is valid now, or was just before, or will be just after.
    func accepts(_ code: String, now: Int = SessionCookie.now) -> Bool { step(of: code, now: now) != nil }

    /// The half minute of a valid code, counted from 1970.
    func step(of code: String, now: Int = SessionCookie.now) -> Int? {
        // All are compared, so that the time does not reveal which one matched.
        let near = [now - Self.period, now, now + Self.period]
        let matches = near.map { Secrets.areEqual(self.code(at: $0).utf8, code.utf8) }
        return zip(near, matches).filter(\.1).last.map { max($0.0, 0) / Self.period }
    }

    /// The code of a time in seconds.
    func code(at time: Int) -> String {
        let counter = UInt64(max(time, 0) / Self.period)
        let hash = function.code(of: withUnsafeBytes(of: counter.bigEndian) { Array($0) }, key: key)
        let offset = Int((hash.last ?? 0) & 15)
        let word = hash.dropFirst(offset).prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
        let digits = String(word)
        return String((String(repeating: "0", count: length) + digits).suffix(length))
    }
}
