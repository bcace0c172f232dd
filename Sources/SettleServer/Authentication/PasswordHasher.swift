internal import SettleDatabase
internal import SettlePlatform

/// Hashes and verifies passwords: a few concurrently, with a cache of recent verifications.
///
/// Deriving a key takes a tenth of a second of a core. So it runs on worker threads, never on polling threads, and
/// concurrency is limited: a call that finds too many waiting fails.
final class PasswordHasher: Sendable {
    private struct State {
        var running = 0
        var waiting = 0
    }

    private let state = Monitor(State())
    private let places: Int
    private let seats: Int
    private let verified: VerifiedPasswords
    /// The iterations for new passwords.
    let iterations: Int
    /// Compared with passwords of unknown users, so that the time does not reveal which users exist.
    private let nobody: PasswordHash

    init(iterations: Int, places: Int = 2, seats: Int = 16, remembering capacity: Int = 1000, seconds: Double = 600) {
        self.iterations = max(1, min(iterations, PasswordHash.mostIterations))
        self.places = max(1, places)
        self.seats = seats
        verified = VerifiedPasswords(capacity: capacity, seconds: seconds)
        nobody = PasswordHash(of: SecureRandom.bytes(16), iterations: 1).withIterations(self.iterations)
    }

    /// How many calls wait.
    var waiting: Int { state.withLock { $0.waiting } }

    /// Hashes a new password.
    ///
    /// - Throws: ``HTTPError`` with status 503 if too many calls wait.
    func hash(_ password: [UInt8]) throws -> PasswordHash {
        try inPlace { PasswordHash(of: password, iterations: iterations) }
    }

    /// Verifies a password against a hash; fails without a hash.
    ///
    /// - Parameters:
    ///   - password: The password.
    ///   - hash: What is kept of it.
    ///   - name: Whose it is.
    ///   - precheck: Is called when it is its turn, before the key is derived.
    /// - Returns: Whether it is.
    /// - Throws: ``HTTPError`` with status 503 when too many wait, and what the hash or the check before says.
    func verify(
        _ password: [UInt8], against hash: PasswordHash?, of name: String, precheck: () throws -> Void
    ) throws -> Bool {
        if let hash, remembers(password, hash, name) { return true }
        let isRight = try inPlace {
            try precheck()
            return try (hash ?? nobody).verify(password)
        }
        guard isRight, let hash else { return false }
        verified.insert(password, hash, name)
        return true
    }

    /// Whether a password was found to be the one of a hash lately.
    func remembers(_ password: [UInt8], _ hash: PasswordHash, _ name: String) -> Bool {
        verified.contains(password, hash, name)
    }

    private func inPlace<Result>(_ body: () throws -> Result) throws -> Result {
        let hasSeat = state.withLock { state in
            guard state.running < places || state.waiting < seats else { return false }
            state.waiting += 1
            return true
        }
        guard hasSeat else { throw HTTPError(503, "service_unavailable", "Too many logins at the same time.") }
        _ = state.wait { state -> Bool? in
            guard state.running < places else { return nil }
            state.running += 1
            state.waiting -= 1
            return true
        }
        defer { state.update { $0.running -= 1 } }
        return try body()
    }
}
