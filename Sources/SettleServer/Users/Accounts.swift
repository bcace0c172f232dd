internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform
internal import SettleViews

/// Looks up accounts: the server's administrators first, then the documents of `_users`.
struct Accounts: Sendable {
    let administration: Administration
    /// A cache of user documents; `nil` if reading them is just as fast.
    let known: UserDocuments?

    /// The account of a name.
    ///
    /// - Throws: ``HTTPError`` with status 401 for a user whose document has a conflict, because it is unknown
    ///   which password is right; ``NotAtHand`` if the document would have to be waited for, which this source may
    ///   not.
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

    /// The roles that an administrator of the server has in addition: those in the user document of the same name.
    /// If the users database can't be read, the administrator can still log in.
    private func administratorsRoles(_ name: String, _ databases: any DatabaseSource) throws -> [String] {
        do { return try document(of: name, databases).map { Self.roles($0.body) } ?? [] } catch is DatabaseError {
            return []
        }
    }

    /// The winner of an account's user document; `nil` if it does not exist.
    private func document(of name: String, _ databases: any DatabaseSource) throws -> UserDocuments.Found? {
        guard !name.isEmpty, let users = try databases.sourceIfThere("_users") else { return nil }
        let id = DocumentID(unchecked: UserDocumentRules.prefix + name)
        guard let known else { return try read(id, users) }
        return try known.find(id, in: users.database) { try read(id, users) }
    }

    private func read(_ id: DocumentID, _ users: any QuerySource) throws -> UserDocuments.Found? {
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

/// The codes of an account's second factor (TOTP, RFC 6238). They change every half minute.
///
/// A user document contains it in CouchDB's form: `"totp": {"key": "GEZDGNBV…", "algorithm": "sha", "length": 6}`,
/// with the key in base32.
struct TimeCode: Sendable {
    private let key: [UInt8]
    private let function: HashFunction
    private let length: Int
    private static let period = 30

    /// Parses the member; `nil` for invalid input, which prevents authentication.
    init?(_ json: JSONValue) {
        guard let key = json["key"]?.string.flatMap(Base32.decode), !key.isEmpty,
            let function = HashFunction(rawValue: json["algorithm"].map { $0.string ?? "" } ?? "sha")
        else { return nil }
        let length = json["length"].map { $0.int ?? 0 } ?? 6
        guard (6...8).contains(length) else { return nil }
        (self.key, self.function, self.length) = (key, function, length)
    }

    /// Whether a code is that of the current half minute, or of the one before or after.
    func accepts(_ code: String, now: Int = SessionCookie.now) -> Bool { step(of: code, now: now) != nil }

    /// The half minute of a valid code, counted from 1970.
    func step(of code: String, now: Int = SessionCookie.now) -> Int? {
        // All codes are compared, so that the time does not reveal which one matched.
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

// MARK: - Account

/// An account that may log in.
struct Account: Sendable {
    let name: String
    let roles: [String]
    /// The password's hash; `nil` for an account without a password.
    let password: PasswordHash?
    /// Signed into a session's cookie with the server's secret. A new password has a new salt, which ends the
    /// sessions.
    var salt: String
    /// The required second factor.
    var secondFactor: SecondFactor = .none

    /// The second factor that authentication requires in addition to a password.
    enum SecondFactor: Sendable {
        case none
        case code(TimeCode)
        /// A malformed member, which no code satisfies.
        case unknown

        /// Whether a code is valid.
        func accepts(_ code: String) -> Bool {
            switch self {
            case .none: true
            case .code(let codes): codes.accepts(code)
            case .unknown: false
            }
        }
    }
}

// MARK: - User

/// The authenticated sender of a request.
struct User: Sendable {
    /// The name, or `nil` for an anonymous client.
    var name: String?
    /// The roles; `_admin` is the server's administrator.
    var roles: [String]
    /// The method of authentication.
    var handler: String?
    /// A cookie to send with the response, if the request's cookie is about to expire.
    var renewedCookie: String?
    /// The facts that must not change while the user stays authenticated; `nil` for an anonymous client and a proxy's user.
    var proof: Proof?

    /// The facts that authentication relied on.
    enum Proof: Sendable, Hashable {
        /// An account whose password has this salt. A new password has a new salt.
        case password(salt: String)
        /// A session of such an account until a time, in seconds.
        case session(salt: String, end: Int)
        /// A signed token until a time, in seconds; `nil` for a token without an expiry.
        case token(end: Double?)
    }

    /// A client without authentication.
    static let anonymous = User(name: nil, roles: [])
    /// Code in this process, with all rights.
    static let administrator = User(name: "settle", roles: ["_admin"])

    /// Whether the user is an administrator of the server.
    var isServerAdmin: Bool { roles.contains("_admin") }
}

// MARK: - UserDocuments

/// A cache of documents of `_users`, for a server that would have to ask another machine for them.
///
/// Entries are valid while `_users` has the commit that was the newest one before they were read. So a changed
/// password takes effect at once. The number and the size of entries are bounded.
final class UserDocuments: Sendable {
    /// The members of a user document that authentication needs.
    struct Found: Sendable {
        let body: DocumentBody
        let isConflicted: Bool
    }

    private struct State {
        weak var database: Database?
        var commit: Commit?
        /// By the ids of the documents, which distinguish two spellings of the same accented letter; `nil` for an
        /// account without a document.
        var found: [DocumentID: Found?] = [:]

        func isOf(_ users: Database, _ commit: Commit) -> Bool { database === users && self.commit == commit }
    }

    private let state = Guarded(State())
    private static let most = 1000
    private static let largest = 16 << 10

    /// The document of an account.
    ///
    /// - Parameters:
    ///   - id: The id of the document.
    ///   - users: The database `_users`.
    ///   - read: Reads the document, if it is not cached.
    /// - Returns: The document; `nil` if the account does not exist.
    func find(_ id: DocumentID, in users: Database, _ read: () throws -> Found?) rethrows -> Found? {
        // Read before the document: a write in between makes the entry old.
        guard let commit = users.newestCommit else { return try read() }
        if let known = state.withLock({ $0.isOf(users, commit) ? $0.found[id] : nil }) { return known }
        let found = try read()
        guard id.string.utf8.count + (found?.body.utf8.count ?? 0) <= Self.largest else { return found }
        state.withLock { state in
            if !state.isOf(users, commit) || state.found.count >= Self.most {
                state = State(database: users, commit: commit)
            }
            state.found[id] = .some(found)
        }
        return found
    }
}

// MARK: - Base32

/// Base32 of RFC 4648, the usual form of TOTP secrets.
enum Base32 {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

    /// Decodes text, with or without padding; `nil` for invalid input.
    static func decode(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var bits: UInt32 = 0
        var count = 0
        let padding = text.utf8.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        for byte in text.utf8.dropLast(padding) {
            guard let digit = digits.firstIndex(of: byte) else { return nil }
            bits = bits << 5 | UInt32(digit)
            count += 5
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return bytes
    }
}
