internal import SettleDatabase
internal import SettlePlatform

/// The server's administrators, and the other contents of its settings file.
final class Administration: Sendable {
    private struct State {
        var settings = ServerSettings()
        /// Administrators from the options, which are not stored.
        var others: [String: PasswordHash]
        var isLoaded = false
        var file: SettingsFile
    }

    private let state: Guarded<State>
    /// Taken by who writes the file, so that nobody who only reads waits for the disk.
    private let changing = Guarded(())
    private let lock: FolderLock
    let hasher: PasswordHasher

    init(_ options: SecurityOptions, path: String) {
        lock = FolderLock(path)
        hasher = PasswordHasher(iterations: options.passwordIterations, places: options.passwordWorkers)
        let iterations = hasher.iterations
        let others = options.admins.mapValues { PasswordHash(of: Array($0.utf8), iterations: iterations) }
        state = Guarded(State(others: others, file: SettingsFile(path: path + "/server.json")))
    }

    /// The hash of an administrator's password.
    func hash(of name: String) -> PasswordHash? { state.withLock { $0.others[name] ?? $0.settings.admins[name] } }

    /// The names of all administrators, sorted.
    var names: [String] { state.withLock { Set($0.others.keys).union($0.settings.admins.keys) }.sorted() }

    /// The secret that cookies are signed with.
    var secret: [UInt8] { state.withLock { Array($0.settings.secret.utf8) } }

    /// The server's id in the response of `GET /`.
    var uuid: String { state.withLock { $0.settings.uuid } }

    /// Locks the folder for this server, and reads or creates the settings file.
    ///
    /// - Throws: ``DatabaseError`` with code `inUse` if another server has the folder; then nothing is changed.
    func load() throws {
        try lock.take()
        try state.withLock { state in
            guard !state.isLoaded else { return }
            if let settings = try state.file.read() {
                state.settings = settings
            } else {
                try state.file.write(state.settings)
            }
            state.isLoaded = true
        }
    }

    /// Unlocks the folder.
    func unload() { lock.release() }

    /// Creates an administrator with a random password if the server has no administrator; returns the password, which is not
    /// stored.
    func makeFirst() throws -> String? {
        try load()
        guard state.withLock({ $0.others.isEmpty && $0.settings.admins.isEmpty }) else { return nil }
        let password = Base64.encodeForURL(SecureRandom.bytes(18))
        try set("admin", password: Array(password.utf8))
        return password
    }

    /// Sets an administrator's password, and stores its hash.
    func set(_ name: String, password: [UInt8]) throws {
        try load()
        let hash = try hasher.hash(password)
        try change { $0.admins[name] = hash }
    }

    /// The configuration changed over HTTP, by `section/key`.
    var storedSettings: [String: String] { state.withLock(\.settings.configuration) }

    /// Stores a value of the configuration that was changed over HTTP; `nil` removes it.
    func store(_ value: String?, as name: String) throws {
        try load()
        try change { $0.configuration[name] = value }
    }

    /// Changes the settings, in their file first.
    private func change(_ body: (inout ServerSettings) -> Void) throws {
        try changing.withLock { _ in
            var (settings, file) = state.withLock { ($0.settings, $0.file) }
            body(&settings)
            try file.write(settings)
            state.withLock { $0.settings = settings }
        }
    }
}
