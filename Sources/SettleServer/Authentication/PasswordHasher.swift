internal import SettleDatabase
internal import SettlePlatform

/// Hashes and verifies passwords: a few at once, and what was verified is remembered for a while.
///
/// Deriving a key takes a tenth of a second of a core. So it happens on the threads of handlers, never on those that do
/// I/O; not more often at the same time than there are places; and who finds too many waiting is sent away.
final class PasswordHasher: Sendable {
    private struct State {
        var running = 0
        var waiting = 0
    }

    private let state = Monitor(State())
    private let places: Int
    private let seats: Int
    private let verified: VerifiedPasswords
    /// How often a new password is hashed.
    let iterations: Int
    /// What a password of nobody is compared with, so that the time does not tell who exists.
    private let nobody: PasswordHash

    init(iterations: Int, places: Int = 2, seats: Int = 16, remembering capacity: Int = 1000, seconds: Double = 600) {
        self.iterations = max(1, min(iterations, PasswordHash.mostIterations))
        self.places = max(1, places)
        self.seats = seats
        verified = VerifiedPasswords(capacity: capacity, seconds: seconds)
        nobody = PasswordHash(of: SecureRandom.bytes(16), iterations: 1).withIterations(self.iterations)
    }

    /// How many wait for a place.
    var waiting: Int { state.withLock { $0.waiting } }

    /// Hashes a new password.
    ///
    /// - Throws: ``HTTPError`` with status 503 when too many wait.
    func hash(_ password: [UInt8]) throws -> PasswordHash {
        try inPlace { PasswordHash(of: password, iterations: iterations) }
    }

    /// Looks whether a password is the one of a hash; no hash has none.
    ///
    /// - Parameters:
    ///   - password: The password.
    ///   - hash: What is kept of it.
    ///   - name: Whose it is.
    ///   - precheck: Is called when it is its turn, before the key is derived.
    /// - Returns: Whether it is.
    /// - Throws: ``HTTPError`` with status 503 when too many wait, and what the hash or the check before says;
    ///   ``WouldWait`` where it may not wait and the key would have to be derived.
    func verify(
        _ password: [UInt8], against hash: PasswordHash?, of name: String, precheck: () throws -> Void
    ) throws -> Bool {
        if let hash, verified.contains(password, hash, name) { return true }
        try Waiting.check()
        let isRight = try inPlace {
            try precheck()
            return try (hash ?? nobody).verify(password)
        }
        guard isRight, let hash else { return false }
        verified.insert(password, hash, name)
        return true
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
