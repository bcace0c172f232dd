internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

extension CredentialStore {
    private static let sharedStore = Guarded(CredentialStore())

    /// The store that peers created without credentials use, like a system's keychain; empty unless set.
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
    ///   - sealed: What ``sealed(key:)`` returned.
    ///   - key: The key it was sealed with, 32 bytes.
    /// - Throws: ``PeerError`` with code `badRequest` for a key of another length, and `unauthorized` where the key is another
    ///   one or the bytes were changed.
    public init(opening sealed: [UInt8], key: [UInt8]) throws {
        self.init()
        let plain: [UInt8]
        do throws(SealedBytes.Fault) { plain = try SealedBytes(sealed).opened(key: key) } catch {
            throw Self.told(error)
        }
        guard let rows = try? JSON(utf8: plain).array else { throw Self.told(.cannotOpen) }
        for row in rows {
            guard let user = row["user"]?.string, let password = row["password"]?.string,
                let server = row["server"]?.string.flatMap({ try? HTTPURL($0) })
            else { throw Self.told(.cannotOpen) }
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
        let rows = entries.map { entry -> JSON in
            var row: JSON = [
                "server": .string(entry.server.origin), "user": .string(entry.user),
                "password": .string(entry.password),
            ]
            row["realm"] = entry.realm.map(JSON.string)
            return row
        }
        do throws(SealedBytes.Fault) { return try SealedBytes(sealing: JSON.array(rows).utf8, key: key).bytes } catch {
            throw Self.told(error)
        }
    }

    private static func told(_ fault: SealedBytes.Fault) -> PeerError {
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

extension Credentials {
    /// The shared store if it has credentials for the server, else no credentials.
    static func automatic(for url: HTTPURL) -> Credentials {
        let store = CredentialStore.shared
        return store.hasEntry(for: url) ? .stored(store) : .none
    }
}
