internal import SettleCore
internal import SettlePlatform

/// The hash of a password, in any form that CouchDB uses or has used.
struct PasswordHash: Sendable, Hashable {
    /// The hash algorithm.
    enum Scheme: Sendable, Hashable {
        /// SHA-1 of password and salt.
        case simple
        /// A key derived from the password, or from its simple hash if an old hash was strengthened.
        case derived(HashFunction, iterations: Int, fromSimple: Bool)
    }

    let scheme: Scheme
    let salt: String
    /// The hash in hexadecimal digits.
    let hash: String
    /// The maximum number of iterations, whatever a document contains.
    static let maximumIterations = 10_000_000

    /// Hashes a password. Use ``PasswordHasher``, which limits concurrent hashing.
    init(of password: [UInt8], salt: String = SecureRandom.hexadecimal(), iterations: Int) {
        scheme = .derived(.sha256, iterations: iterations, fromSimple: false)
        self.salt = salt
        hash = Self.compute(scheme, password, salt)
    }

    private init(_ scheme: Scheme, salt: String, hash: String) {
        self.scheme = scheme
        self.salt = salt
        self.hash = hash
    }

    /// Whether a password matches. Use ``PasswordHasher``, which limits concurrent hashing.
    ///
    /// - Throws: ``HTTPError`` with status 403 if the number of iterations is out of bounds.
    func verify(_ password: [UInt8]) throws -> Bool {
        if case .derived(_, let iterations, _) = scheme {
            guard iterations >= 1 else { throw HTTPError.forbidden("Iteration count is too low for this server") }
            guard iterations <= Self.maximumIterations else {
                throw HTTPError.forbidden("Iteration count is too high for this server")
            }
        }
        return Secrets.areEqual(Self.compute(scheme, password, salt).utf8, hash.lowercased().utf8)
    }

    private static func compute(_ scheme: Scheme, _ password: [UInt8], _ salt: String) -> String {
        let salt = Array(salt.utf8)
        switch scheme {
        case .simple: return Hexadecimal.encode(HashFunction.sha1.hash(password + salt))
        case .derived(let function, let iterations, let fromSimple):
            let secret =
                fromSimple ? Array(Hexadecimal.encode(HashFunction.sha1.hash(password + salt)).utf8) : password
            return Hexadecimal.encode(function.derive(password: secret, salt: salt, iterations: iterations))
        }
    }
}

extension PasswordHash {
    /// The members of a user document that contain the hash.
    static let memberNames: Set<String> = [
        "derived_key", "iterations", "password", "password_scheme", "password_sha", "preserve_salt", "pbkdf2_prf",
        "salt",
    ]

    /// Reads the hash of a user document; `nil` if it has none, or one of an unknown form.
    init?(_ document: DocumentBody) {
        let salt = document["salt"]?.string ?? ""
        let name = document["password_scheme"]?.string ?? "simple"
        switch name {
        case "simple":
            guard let hash = document["password_sha"]?.string else { return nil }
            self.init(.simple, salt: salt, hash: hash)
        case "pbkdf2", "simple+pbkdf2":
            guard let hash = document["derived_key"]?.string,
                let function = HashFunction(rawValue: document["pbkdf2_prf"]?.string ?? "sha")
            else { return nil }
            let iterations = document["iterations"].map { $0.int ?? 0 } ?? 10_000
            self.init(
                .derived(function, iterations: iterations, fromSimple: name != "pbkdf2"), salt: salt, hash: hash)
        default: return nil
        }
    }

    /// The members for a user document.
    var members: [(String, JSONValue)] {
        guard case .derived(let function, let iterations, _) = scheme else { return [] }
        return [
            ("password_scheme", "pbkdf2"), ("pbkdf2_prf", .string(function.rawValue)), ("salt", .string(salt)),
            ("iterations", .number(JSONNumber(iterations))), ("derived_key", .string(hash)),
        ]
    }

    /// Reads a line of CouchDB's section `[admins]`: `-pbkdf2:sha256-key,salt,iterations`, or an older form.
    init?(line: String) {
        if line.hasPrefix("-hashed-") {
            let parts = line.dropFirst(8).split(separator: ",")
            guard parts.count == 2 else { return nil }
            self.init(.simple, salt: String(parts[1]), hash: String(parts[0]))
            return
        }
        guard line.hasPrefix("-pbkdf2"), let dash = line.dropFirst(7).firstIndex(of: "-") else { return nil }
        let given = line.dropFirst(7)[..<dash]
        let parts = line[line.index(after: dash)...].split(separator: ",")
        guard given.isEmpty || given.hasPrefix(":"), parts.count == 3, let iterations = Int(parts[2]),
            let function = given.isEmpty ? .sha1 : HashFunction(rawValue: String(given.dropFirst()))
        else { return nil }
        self.init(
            .derived(function, iterations: iterations, fromSimple: false), salt: String(parts[1]),
            hash: String(parts[0]))
    }

    /// The line for the section `[admins]`.
    var line: String {
        switch scheme {
        case .simple: "-hashed-\(hash),\(salt)"
        case .derived(let function, let iterations, _):
            "-pbkdf2:\(function.rawValue)-\(hash),\(salt),\(iterations)"
        }
    }
}

extension PasswordHash {
    /// Whether some password may match: the key is derived, within the bounds, and as long as its function makes it.
    var isComplete: Bool {
        guard case .derived(let function, let iterations, _) = scheme else { return false }
        return (1...Self.maximumIterations).contains(iterations)
            && Hexadecimal.decode(hash)?.count == function.length
    }

    /// A copy with another number of iterations, which matches no password.
    func withIterations(_ count: Int) -> PasswordHash {
        PasswordHash(.derived(.sha256, iterations: count, fromSimple: false), salt: salt, hash: hash)
    }
}
