internal import SettleCore
internal import SettleDatabase
public import SettleHTTP
internal import SettlePlatform

/// Passwords by server and realm, as a keychain holds them.
///
///     var store = CredentialStore()
///     store.add(user: "anna", password: secret, for: try HTTPURL("https://couch.example:6984"), realm: "notes")
///     let peer = try CouchDBPeer(url, credentials: .stored(store))
///
/// An entry is used only if scheme, host and port are identical. An entry with a realm is used only after the server
/// has asked for that realm. If no entry fits, no credentials are sent, and the error of a rejected request says how
/// the nearest entry differs (SEMANTICS 136).
public struct CredentialStore: Sendable {
    /// A user's password for a server and realm.
    struct Entry: Sendable, Equatable {
        let server: HTTPURL
        let realm: String?
        let user: String
        let password: String
    }

    private(set) var entries: [Entry] = []

    /// Creates an empty store.
    public init() {}

    /// Whether the store is empty.
    var isEmpty: Bool { entries.isEmpty }

    /// Whether the store has an entry for the server of an address, for any realm.
    func hasEntry(for url: HTTPURL) -> Bool { entries.contains { $0.server.hasSameOrigin(as: url) } }

    /// Adds a user's password.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - password: The password.
    ///   - server: The address of the server; of it, scheme, host and port count.
    ///   - realm: The realm that the server names when it asks for a password; `nil` for any realm.
    public mutating func add(user: String, password: String, for server: HTTPURL, realm: String? = nil) {
        entries.append(Entry(server: server.withoutCredentials, realm: realm, user: user, password: password))
    }

    /// The first entry for an address and the server's challenge; without a challenge, the first entry for any realm.
    func entry(for url: HTTPURL, _ challenge: AuthenticationChallenge?) -> Entry? {
        if let challenge, !challenge.isBasic { return nil }
        return entries.first { entry in
            entry.server.hasSameOrigin(as: url) && (entry.realm == nil || entry.realm == challenge?.realm)
        }
    }

    /// Says why no entry fits, in terms of the nearest one.
    func mismatch(for url: HTTPURL, _ challenge: AuthenticationChallenge?) -> String {
        let nearest = entries.map { ($0, Self.differences($0, url, challenge)) }.min { $0.1.count < $1.1.count }
        guard let (entry, differences) = nearest else { return "no authentication, for no credentials are stored" }
        return
            "no authentication, for the stored credentials of '\(entry.user)' are for \(differences.joined(separator: ", "))"
    }

    private static func differences(
        _ entry: Entry, _ url: HTTPURL, _ challenge: AuthenticationChallenge?
    ) -> [String] {
        let method = challenge?.method ?? AuthenticationChallenge.basic
        let parts: [(String, String?, String)] = [
            ("host", entry.server.host, url.host), ("port", "\(entry.server.port)", "\(url.port)"),
            ("scheme", entry.server.scheme.rawValue, url.scheme.rawValue),
            ("realm", entry.realm.map { "'\($0)'" }, challenge?.realm.map { "'\($0)'" } ?? "one that is not told"),
            ("method", AuthenticationChallenge.basic, method),
        ]
        return parts.compactMap { name, stored, asked in
            stored.flatMap { $0 == asked ? nil : "the \(name) \($0) and not \(asked)" }
        }
    }
}

extension CredentialStore: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The users, servers and realms, without passwords.
    public var description: String {
        entries.map { "\($0.user) at \($0.server)" + ($0.realm.map { " '\($0)'" } ?? "") }.joined(separator: ", ")
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The users, servers and realms.
    public var customMirror: Mirror { Mirror(self, children: ["entries": description], displayStyle: .struct) }
}

extension CredentialStore {
    private static let sharedStore = Guarded(CredentialStore())

    /// The store that peers created without credentials use, like a system's keychain; empty by default.
    ///
    ///     CredentialStore.shared = try CredentialStore(opening: bytes, key: key)
    ///     let hub = try CouchDBPeer(HTTPURL("https://couch.example/notes"))     // with the password for couch.example
    ///
    /// A new peer takes the credentials that the store has for its server. Addresses with a user, and peers created
    /// with credentials, don't use the store.
    public static var shared: CredentialStore {
        get { sharedStore.withLock(\.self) }
        set { sharedStore.withLock { $0 = newValue } }
    }

    /// Opens a sealed store.
    ///
    /// - Parameters:
    ///   - sealed: The result of ``sealed(key:)``.
    ///   - key: The key it was sealed with, 32 bytes.
    /// - Throws: ``PeerError`` with code `badRequest` for a key of another length, and `unauthorized` for a wrong
    ///   key or changed bytes.
    public init(opening sealed: [UInt8], key: [UInt8]) throws {
        self.init()
        let plain: [UInt8]
        do throws(SealedBytes.Fault) { plain = try SealedBytes(sealed).opened(key: key) } catch {
            throw Self.failure(error)
        }
        guard let rows = try? JSONValue(utf8: plain).array else { throw Self.failure(.cannotOpen) }
        for row in rows {
            guard let user = row["user"]?.string, let password = row["password"]?.string,
                let server = row["server"]?.string.flatMap({ try? HTTPURL($0) })
            else { throw Self.failure(.cannotOpen) }
            add(user: user, password: password, for: server, realm: row["realm"]?.string)
        }
    }

    /// The store as bytes for a file, which can be read or changed only with the key: AES-256-GCM.
    ///
    /// The app keeps the key, in a keychain or derived from a passphrase. The key is not stored here.
    ///
    /// - Parameter key: 32 random bytes.
    /// - Returns: Different bytes each time.
    /// - Throws: ``PeerError`` with code `badRequest` for a key of another length.
    public func sealed(key: [UInt8]) throws -> [UInt8] {
        let rows = entries.map { entry -> JSONValue in
            var row: JSONValue = [
                "server": .string(entry.server.origin), "user": .string(entry.user),
                "password": .string(entry.password),
            ]
            row["realm"] = entry.realm.map(JSONValue.string)
            return row
        }
        do throws(SealedBytes.Fault) {
            return try SealedBytes(sealing: JSONValue.array(rows).utf8, key: key).bytes
        } catch {
            throw Self.failure(error)
        }
    }

    private static func failure(_ fault: SealedBytes.Fault) -> PeerError {
        switch fault {
        case .wrongKeyLength:
            PeerError(.badRequest, "the key of a credential store must have \(SealedBytes.keyLength) bytes")
        case .cannotOpen:
            PeerError(
                .unauthorized, "the credential store can't be opened: the key is another one, or the bytes were changed"
            )
        case .failed: PeerError(.badRequest, "the credential store could not be sealed")
        }
    }
}

extension ReplicationCredentials {
    /// The shared store if it has credentials for the server; otherwise no credentials.
    static func automatic(for url: HTTPURL) -> ReplicationCredentials {
        let store = CredentialStore.shared
        return store.hasEntry(for: url) ? .stored(store) : .none
    }
}

// MARK: - SealedBytes

/// Bytes that can be read or changed only with the key: AES-256-GCM with a random nonce.
///
///     mark (8 bytes) · nonce (12) · ciphertext · tag (16)
package struct SealedBytes: Sendable {
    /// The length of a key, in bytes.
    package static let keyLength = 32
    private static let mark = Array("settle\u{0}1".utf8)
    private static let nonceLength = 12
    private static let tagLength = 16

    /// The reason why bytes can't be opened or sealed.
    package enum Fault: Error {
        case wrongKeyLength
        case cannotOpen
        case failed
    }

    /// The bytes as they are stored.
    package let bytes: [UInt8]

    /// Wraps bytes that are already sealed.
    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Seals bytes.
    package init(sealing plain: [UInt8], key: [UInt8]) throws(Fault) {
        guard key.count == Self.keyLength else { throw .wrongKeyLength }
        let nonce = SecureRandom.bytes(Self.nonceLength)
        guard let sealed = SealingCipher.seal(plain, mark: Self.mark, key: key, nonce: nonce) else { throw .failed }
        bytes = Self.mark + nonce + sealed.cipher + sealed.tag
    }

    /// Opens the bytes.
    package func opened(key: [UInt8]) throws(Fault) -> [UInt8] {
        guard key.count == Self.keyLength else { throw .wrongKeyLength }
        let head = Self.mark.count + Self.nonceLength
        guard bytes.count >= head + Self.tagLength, bytes.starts(with: Self.mark) else { throw .cannotOpen }
        let nonce = Array(bytes[Self.mark.count..<head])
        let cipher = Array(bytes[head..<(bytes.count - Self.tagLength)])
        let tag = Array(bytes.suffix(Self.tagLength))
        let plain = SealingCipher.open(cipher, tag: tag, mark: Self.mark, key: key, nonce: nonce)
        guard let plain else { throw .cannotOpen }
        return plain
    }
}
