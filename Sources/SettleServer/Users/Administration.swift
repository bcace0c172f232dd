internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// The server's administrators, and the rest of its stored settings.
///
/// Nodes that share a store share its settings: the first node creates them, each change is applied to the
/// currently stored settings, and ``follow()`` reads the changes of other nodes.
final class Administration: Sendable {
    private struct State {
        var settings = ServerSettings()
        /// The version of the stored settings; `nil` before they are stored.
        var version: Int64?
        /// Administrators from the options, which are not stored.
        var others: [ExactText: PasswordHash]
        /// The stored administrators whose passwords were set when this server was started.
        var given: Set<ExactText> = []
        var isLoaded = false
    }

    private let state: Guarded<State>
    /// Guards the record separately from the cached state, so that readers of the state never wait for I/O.
    private let changing = Guarded(())
    private let record: any ServerRecord
    private let isShared: Bool
    private let adopt: @Sendable ([String: String]) -> Void
    let hasher: PasswordHasher

    /// - Parameters:
    ///   - options: The administrators that are not stored, and the parameters of password hashing.
    ///   - store: Stores the settings.
    ///   - adopt: Called on a shared store with the currently stored configuration, before the other settings are
    ///     used.
    init(
        _ options: SecurityOptions, store: any ServerStore, adopt: @escaping @Sendable ([String: String]) -> Void
    ) {
        (record, isShared, self.adopt) = (store.serverRecord(), store.isShared, adopt)
        hasher = PasswordHasher(iterations: options.passwordIterations, places: options.passwordWorkers)
        state = Guarded(State(others: Self.hashes(options.admins, hasher.iterations, isShared: store.isShared)))
    }

    /// The hash of an administrator's password.
    func hash(of name: String) -> PasswordHash? {
        let name = ExactText(name)
        return state.withLock { $0.others[name] ?? $0.settings.admins[name] }
    }

    /// The names of all administrators, sorted.
    var names: [String] {
        state.withLock { Set($0.others.keys).union($0.settings.admins.keys) }.sorted().map(\.string)
    }

    /// The secret that cookies are signed with.
    var secret: [UInt8] { state.withLock { Array($0.settings.secret.utf8) } }

    /// The stored settings, including their secrets.
    var stored: [UInt8] { state.withLock { $0.settings.bytes } }

    /// The server's id in the response of `GET /`.
    var uuid: String { state.withLock { $0.settings.uuid } }

    /// Reserves the store for this server, if only one server may use it, and reads or creates the stored settings.
    ///
    /// - Throws: ``DatabaseError`` with code `inUse` if another server uses the folder; then nothing is changed.
    func load() throws {
        try record.reserve()
        try changing.withLock { _ in
            guard !state.withLock(\.isLoaded) else { return }
            if try !readAgain(), try !write(state.withLock(\.settings), replacing: nil), try !readAgain() {
                throw Self.busy
            }
            state.withLock { $0.isLoaded = true }
        }
    }

    /// Releases the store for other servers.
    func unload() { record.release() }

    /// Creates an administrator with a random password if the server has no administrator. Returns the password,
    /// which is not stored.
    func makeFirst() throws -> String? {
        try load()
        guard state.withLock({ $0.others.isEmpty && $0.settings.admins.isEmpty }) else { return nil }
        let password = Base64.encodeForURL(SecureRandom.bytes(18))
        let hash = try hasher.hash(Array(password.utf8))
        let isMade = try change { settings in
            // Another node may have created one meanwhile.
            guard settings.admins.isEmpty else { return false }
            settings.admins[ExactText("admin")] = hash
            return true
        }
        return isMade ? password : nil
    }

    /// Checks the name and the password of an administrator.
    ///
    /// - Throws: ``DatabaseError`` with code `invalid`.
    static func check(_ name: String, password: [UInt8]) throws {
        guard !name.isEmpty, !name.hasPrefix("_"), !name.utf8.contains(UInt8(ascii: ":")), !password.isEmpty else {
            throw DatabaseError(
                .invalid, "an administrator needs a password, and a name without a colon or an underscore in front")
        }
    }

    /// Sets an administrator's password at the start of the server, and stores its hash. If the password is unchanged,
    /// its hash stays: a new salt at each start, or on each node, would end the sessions.
    ///
    /// - Throws: ``DatabaseError`` for an invalid name or password, or when the settings can't be written.
    func set(_ name: String, password: [UInt8]) throws {
        try Self.check(name, password: password)
        try load()
        _ = state.withLock { $0.given.insert(ExactText(name)) }
        if isSet(name, password, in: state.withLock(\.settings)) { return }
        let hash = try hasher.hash(password)
        try change { settings in
            if isSet(name, password, in: settings) { return false }
            settings.admins[ExactText(name)] = hash
            return true
        }
    }

    /// Accepts an administrator's password before ``set(_:password:)`` has compared it with the stored hash, which takes
    /// a fifth of a second. Until then, the password of that hash is accepted as well.
    ///
    /// - Returns: Whether the password is accepted. Without a stored hash it is not, and has to be set first.
    /// - Throws: ``DatabaseError`` for an invalid name or password, or when the settings can't be read.
    func accept(_ name: String, password: [UInt8]) throws -> Bool {
        try Self.check(name, password: password)
        try load()
        guard let hash = state.withLock(\.settings.admins[ExactText(name)]) else { return false }
        hasher.remember(password, hash, name)
        return true
    }

    private func isSet(_ name: String, _ password: [UInt8], in settings: ServerSettings) -> Bool {
        guard let hash = settings.admins[ExactText(name)],
            hash.scheme == .derived(.sha256, iterations: hasher.iterations, fromSimple: false)
        else { return false }
        return (try? hash.verify(password)) == true
    }

    /// Whether an administrator's password was set when this server was started, by its options or the command line.
    /// The next start would undo any change.
    func isGiven(_ name: String) -> Bool {
        let name = ExactText(name)
        return state.withLock { $0.others[name] != nil || $0.given.contains(name) }
    }

    /// Replaces the hash of an administrator's password, or adds an administrator. A new hash ends the sessions.
    ///
    /// - Returns: Whether there was an administrator of this name.
    /// - Throws: ``DatabaseError`` when the settings can't be written.
    func replace(_ name: String, by hash: PasswordHash) throws -> Bool {
        try load()
        let name = ExactText(name)
        var isKnown = false
        try change { settings in
            isKnown = settings.admins[name] != nil
            settings.admins[name] = hash
            return true
        }
        return isKnown
    }

    /// The outcome of removing an administrator.
    enum Removal: Sendable {
        case removed
        case missing
        /// Nothing was removed, because a server without administrators can't be managed.
        case last
    }

    /// Removes an administrator, which ends the sessions.
    ///
    /// - Throws: ``DatabaseError`` when the settings can't be written.
    func remove(_ name: String) throws -> Removal {
        try load()
        let (name, hasOthers) = (ExactText(name), state.withLock { !$0.others.isEmpty })
        var outcome = Removal.missing
        try change { settings in
            guard settings.admins[name] != nil else {
                outcome = .missing
                return false
            }
            guard hasOthers || settings.admins.count > 1 else {
                outcome = .last
                return false
            }
            settings.admins[name] = nil
            outcome = .removed
            return true
        }
        return outcome
    }

    /// The configuration changed over HTTP, by `section/key`.
    var storedSettings: [String: String] { state.withLock(\.settings.configuration) }

    /// Stores a value of the configuration that was changed over HTTP; `nil` removes it.
    func store(_ value: String?, as name: String) throws {
        try load()
        try change { settings in
            settings.configuration[name] = value
            return true
        }
    }

    /// Hashes the passwords of the options. The salts are derived from the passwords, so a session is valid on
    /// every node with the same ones. Neither leaves the memory.
    private static func hashes(
        _ admins: [String: String], _ iterations: Int, isShared: Bool
    ) -> [ExactText: PasswordHash] {
        Dictionary(
            uniqueKeysWithValues: admins.map { name, text in
                let password = Array(text.utf8)
                guard isShared else { return (ExactText(name), PasswordHash(of: password, iterations: iterations)) }
                let salt = Hexadecimal.encode(HashFunction.sha256.code(of: Array(name.utf8), key: password))
                return (ExactText(name), PasswordHash(of: password, salt: salt, iterations: iterations))
            })
    }
}

extension Administration {
    /// The number of attempts to make a change while other nodes change the settings too.
    private static let attempts = 20

    /// Reads the settings that other nodes have changed, as of the last ``DatabaseStore/freshen(_:)``.
    ///
    /// - Throws: ``DatabaseError`` when they can't be read; then the old ones stay.
    func follow() throws {
        guard isOld else { return }
        try changing.withLock { _ in
            if isOld, try !readAgain() { throw Self.busy }
        }
    }

    private var isOld: Bool {
        guard let newest = record.newestVersion else { return false }
        return newest != state.withLock(\.version)
    }

    /// Changes the settings. They are stored first; if another node was faster, the change is tried again.
    ///
    /// - Parameter body: Changes the settings, and returns whether to store them.
    /// - Returns: The last result of the closure.
    /// - Throws: ``DatabaseError`` if nothing was stored; with code `unavailable` if other nodes were faster every
    ///   time.
    @discardableResult
    private func change(_ body: (inout ServerSettings) -> Bool) throws -> Bool {
        try changing.withLock { _ in
            for _ in 0..<Self.attempts {
                var (settings, version) = state.withLock { ($0.settings, $0.version) }
                guard body(&settings) else { return false }
                if try write(settings, replacing: version) { return true }
                guard try readAgain() else { break }
            }
            throw Self.busy
        }
    }

    /// Stores settings; false if another node has changed them meanwhile.
    private func write(_ settings: ServerSettings, replacing version: Int64?) throws -> Bool {
        guard let version = try record.write(settings.bytes, replacing: version) else { return false }
        apply(settings, version)
        return true
    }

    /// Reads the stored settings; returns false if no settings are stored.
    ///
    /// - Throws: ``DatabaseError`` for settings that can't be read.
    private func readAgain() throws -> Bool {
        guard let (bytes, version) = try record.read() else { return false }
        do { apply(try ServerSettings(bytes), version) } catch let error as DatabaseError { throw error } catch {
            throw DatabaseError(.invalid, "\(record.place) is damaged")
        }
        return true
    }

    private func apply(_ settings: ServerSettings, _ version: Int64) {
        if isShared { adopt(settings.configuration) }
        state.withLock { ($0.settings, $0.version) = (settings, version) }
    }

    private static var busy: DatabaseError {
        DatabaseError(.unavailable, "the server's settings are being changed by other nodes; try again")
    }
}

// MARK: - ServerSettings

/// The stored settings of a server: its administrators, the secret of its cookies, its id.
///
/// A folder keeps them in a file beside the databases that only its owner may read. A ``Server`` that was created
/// but not started has settings in memory only.
struct ServerSettings: Sendable {
    /// The hashes of the administrators' passwords, by name.
    var admins: [ExactText: PasswordHash] = [:]
    /// The configuration changed over HTTP, by `section/key`.
    var configuration: [String: String] = [:]
    /// The secret that cookies are signed with.
    var secret = Hexadecimal.encode(SecureRandom.bytes(32))
    /// The server's id in the response of `GET /`.
    var uuid = SecureRandom.hexadecimal()

    init() {}

    /// Reads settings.
    ///
    /// - Throws: ``DatabaseError`` for invalid input, because a server must not replace settings it can't read.
    init(_ bytes: [UInt8]) throws {
        guard let members = try JSONValue(utf8: bytes).object, let secret = members["secret"]?.string,
            secret.utf8.count >= 32,
            let uuid = members["uuid"]?.string
        else { throw DatabaseError(.invalid, "the settings file lacks `secret` or `uuid`") }
        (self.secret, self.uuid) = (secret, uuid)
        for member in members["admins"]?.object ?? JSONObject() {
            guard let hash = member.value.string.flatMap(PasswordHash.init(line:)) else {
                throw DatabaseError(.invalid, "the settings file has no hash for the administrator \"\(member.name)\"")
            }
            admins[ExactText(member.name)] = hash
        }
        for member in members["configuration"]?.object ?? JSONObject() {
            configuration[member.name] = member.value.string
        }
    }

    /// The stored text.
    var bytes: [UInt8] {
        let lines = admins.sorted { $0.key < $1.key }.map { ($0.key.string, JSONValue.string($0.value.line)) }
        var members: JSONObject = [
            "admins": .object(JSONObject(lines)), "secret": .string(secret), "uuid": .string(uuid),
        ]
        let changes = configuration.sorted { $0.key < $1.key }.map { ($0.key, JSONValue.string($0.value)) }
        if !changes.isEmpty { members["configuration"] = .object(JSONObject(changes)) }
        return JSONValue.object(members).utf8 + [UInt8(ascii: "\n")]
    }
}
