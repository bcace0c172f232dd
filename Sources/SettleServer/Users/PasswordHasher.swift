internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

/// Hashes and verifies passwords, a few at the same time, and caches recent verifications.
///
/// Deriving a key takes a fifth of a second of processor time. So a few dedicated threads do that, and no other
/// thread waits for them:
///
///     verify ─→ known from the cache? ──────────────────────────────→ done
///            ─→ the same credentials wait already? ─ join them ─┐
///            ─→ LoginQueue ─→ one derivation for all of them ───┴───→ done
///
/// A login that would wait longer than clients do is refused with 503 and the time after which to try again.
final class PasswordHasher: Sendable {
    typealias Seat = LoginQueue<Job>.Seat
    /// A closure that gets whether the password is right. It must not block.
    typealias Taker = @Sendable (Result<Bool, any Error>) -> Void

    /// One derivation, and the logins that wait for it.
    final class Job: Sendable {
        fileprivate struct Waiter {
            let precheck: @Sendable () throws -> Void
            let taker: Taker
        }

        fileprivate let mark: [UInt8]
        fileprivate let isKnown: Bool
        fileprivate let compute: @Sendable () throws -> Bool
        /// Changed only while the state of the hasher is locked.
        fileprivate let waiters: Guarded<[Waiter]>

        fileprivate init(
            _ mark: [UInt8], isKnown: Bool, _ waiter: Waiter, _ compute: @escaping @Sendable () throws -> Bool
        ) {
            (self.mark, self.isKnown, self.compute) = (mark, isKnown, compute)
            waiters = Guarded([waiter])
        }
    }

    private struct State {
        var queue = LoginQueue<Job>()
        /// The waiting and running derivations, by the credentials that they verify.
        var jobs: [[UInt8]: Job] = [:]
        var running = 0
        /// The number of running derivations for names without an account.
        var runningUnknown = 0
        /// The recent average time of a derivation, in seconds.
        var cost = 0.25
        /// The approximate number of refused logins that have not been tried again: with and without an account.
        var refused = [true: 0, false: 0]
    }

    private let state = Guarded(State())
    private let places: Int
    private let seats: ClosedRange<Int>
    private let threads: WorkerPool
    private let verified: VerifiedPasswords
    /// The number of iterations for new passwords.
    let iterations: Int
    /// Compared with the passwords of unknown users, so that the time does not reveal which users exist.
    private let nobody: PasswordHash

    /// The maximum time that a login waits, in seconds. Many clients give up after half a minute.
    private static let patience = 20.0
    /// The maximum number of waiting logins without an account.
    private static let unknownSeats = 32
    /// The maximum time after which a refused client may try again, in seconds.
    private static let longestDelay = 120.0

    /// - Parameters:
    ///   - iterations: The number of iterations for new passwords.
    ///   - places: The number of keys that are derived at the same time.
    ///   - seats: The lower and upper bound of the number of waiting logins. In between, it is the number that is
    ///     done in 20 seconds.
    ///   - capacity: The maximum number of cached verifications.
    ///   - seconds: The time that a verification is cached.
    init(
        iterations: Int, places: Int = 2, seats: ClosedRange<Int> = 16...4096, remembering capacity: Int = 16_384,
        seconds: Double = 600
    ) {
        self.iterations = max(1, min(iterations, PasswordHash.maximumIterations))
        self.places = max(1, places)
        self.seats = seats
        threads = WorkerPool(limit: self.places)
        verified = VerifiedPasswords(capacity: capacity, seconds: seconds)
        nobody = PasswordHash(of: SecureRandom.bytes(16), iterations: 1).withIterations(self.iterations)
    }

    deinit { threads.close() }

    /// The number of waiting derivations.
    var waiting: Int { state.withLock(\.queue.count) }

    /// Hashes a new password; waits for a free thread.
    ///
    /// - Throws: ``HTTPError`` with status 503 if too many calls wait.
    func hash(_ password: [UInt8]) throws -> PasswordHash {
        let (done, made) = (Promise<Result<Bool, any Error>>(), Promise<PasswordHash>())
        let iterations = iterations
        let waiter = Job.Waiter(precheck: {}, taker: { done.fulfil($0) })
        submit(Seat(address: "", name: "", isKnown: true), SecureRandom.bytes(16), waiter) {
            made.fulfil(PasswordHash(of: password, iterations: iterations))
            return true
        }
        _ = try done.wait().get()
        guard let hash = made.value else { throw HTTPError(500, "unknown_error", "no hash was made") }
        return hash
    }

    /// Verifies a password against a hash; fails without a hash.
    ///
    /// - Parameters:
    ///   - password: The password.
    ///   - hash: The stored hash; `nil` for a name without an account, or an account without a password.
    ///   - seat: The address and the name, which determine the login's place in the queue.
    ///   - precheck: Called at the login's turn, before the key is derived.
    ///   - taker: Gets whether the password is right, or an ``HTTPError``: status 503 if too many logins wait, or
    ///     an error of the hash or of `precheck`.
    func verify(
        _ password: [UInt8], against hash: PasswordHash?, _ seat: Seat,
        precheck: @escaping @Sendable () throws -> Void, taker: @escaping Taker
    ) {
        if let hash, remembers(password, hash, seat.name) { return taker(.success(true)) }
        let expected = hash ?? nobody
        submit(seat, verified.mark(password, expected, seat.name), Job.Waiter(precheck: precheck, taker: taker)) {
            [verified] in
            guard try expected.verify(password), let hash else { return false }
            verified.insert(password, hash, seat.name)
            return true
        }
    }

    /// Whether a password was verified against a hash recently.
    func remembers(_ password: [UInt8], _ hash: PasswordHash, _ name: String) -> Bool {
        verified.contains(password, hash, name)
    }

    /// Caches that a password matches a hash, after the caller has verified it.
    func remember(_ password: [UInt8], _ hash: PasswordHash, _ name: String) {
        verified.insert(password, hash, name)
    }

    private func submit(
        _ seat: Seat, _ mark: [UInt8], _ waiter: Job.Waiter, _ compute: @escaping @Sendable () throws -> Bool
    ) {
        let (refusal, starts) = state.withLock { state -> ((waiters: [Job.Waiter], delay: Int)?, Job?) in
            if let same = state.jobs[mark] {
                same.waiters.withLock { $0.append(waiter) }
                return (nil, nil)
            }
            let job = Job(mark, isKnown: seat.isKnown, waiter, compute)
            switch state.queue.add(job, seat, limit: limit(seat, state)) {
            case .seated: break
            case .replaced(let other):
                state.jobs[other.mark] = nil
                state.jobs[mark] = job
                return ((other.waiters.withLock { $0 }, delay(seat, &state)), next(&state))
            case .refused: return (([waiter], delay(seat, &state)), nil)
            }
            state.jobs[mark] = job
            return (nil, next(&state))
        }
        if let refusal {
            for waiter in refusal.waiters { waiter.taker(.failure(Self.busy(refusal.delay))) }
        }
        if let starts { threads.submit { [self] in run(starts) } }
    }

    /// The next derivation, if a thread is free.
    private func next(_ state: inout State) -> Job? {
        guard state.running < places else { return nil }
        // Some threads are kept for accounts. Otherwise accounts would wait for names that don't exist.
        let takesUnknown = places == 1 || state.runningUnknown < places / 2
        guard let job = state.queue.next(takesUnknown: takesUnknown) else { return nil }
        state.running += 1
        if !job.isKnown { state.runningUnknown += 1 }
        state.refused[job.isKnown] = max((state.refused[job.isKnown] ?? 0) - 1, 0)
        return job
    }

    private func run(_ first: Job) {
        var job: Job? = first
        while let current = job {
            let start = ContinuousClock.now
            let result = verdict(of: current)
            let seconds = (ContinuousClock.now - start).inSeconds
            let (waiters, following) = state.withLock { state -> ([Job.Waiter], Job?) in
                if case .success = result { state.cost += (seconds - state.cost) / 8 }
                state.jobs[current.mark] = nil
                state.running -= 1
                if !current.isKnown { state.runningUnknown -= 1 }
                return (current.waiters.withLock { $0 }, next(&state))
            }
            for waiter in waiters { waiter.taker(result) }
            job = following
        }
    }

    /// Derives the key, if at least one login that waits for it may still succeed.
    private func verdict(of job: Job) -> Result<Bool, any Error> {
        var refusal: (any Error)?
        let mayLogIn = job.waiters.withLock { $0 }.contains { waiter in
            do {
                try waiter.precheck()
                return true
            } catch {
                refusal = error
                return false
            }
        }
        if !mayLogIn, let refusal { return .failure(refusal) }
        return Result { try job.compute() }
    }

    private func limit(_ seat: Seat, _ state: State) -> Int {
        let inTime = Int(min(Self.patience * Double(places) / max(state.cost, 1e-6), 1e6))
        let limit = min(max(inTime, seats.lowerBound), seats.upperBound)
        return seat.isKnown ? limit : min(limit, Self.unknownSeats)
    }

    /// The time after which a refused login may try again, in seconds. The waiting and the refused logins are
    /// spread over the time that they will take.
    private func delay(_ seat: Seat, _ state: inout State) -> Int {
        let refused = (state.refused[seat.isKnown] ?? 0) + 1
        state.refused[seat.isKnown] = refused
        let all = Double(state.queue.count(isKnown: seat.isKnown) + refused) * state.cost / Double(places)
        let spread = min(max(all, 2), Self.longestDelay)
        return Int(Double.random(in: spread / 4...spread).rounded(.up))
    }

    private static func busy(_ delay: Int) -> HTTPError {
        HTTPError(
            503, "service_unavailable", "Too many logins at the same time.", headers: ["Retry-After": "\(delay)"])
    }
}

// MARK: - VerifiedPasswords

/// A cache of verified passwords, so that not every request derives a key.
///
/// It contains only a keyed hash of name, password and stored hash. A changed password has another stored hash, so
/// it is verified again.
final class VerifiedPasswords: Sendable {
    private struct State {
        var expiries: [[UInt8]: ContinuousClock.Instant] = [:]
        var order: [[UInt8]] = []
    }

    private let state = Guarded(State())
    private let key = SecureRandom.bytes(32)
    private let capacity: Int
    private let lifetime: Duration

    init(capacity: Int, seconds: Double) {
        self.capacity = capacity
        lifetime = .seconds(seconds)
    }

    /// Whether these credentials were verified recently.
    func contains(_ password: [UInt8], _ hash: PasswordHash, _ name: String) -> Bool {
        let mark = mark(password, hash, name)
        return state.withLock { state in state.expiries[mark].map { $0 > .now } ?? false }
    }

    /// Records a verification.
    func insert(_ password: [UInt8], _ hash: PasswordHash, _ name: String) {
        let mark = mark(password, hash, name)
        state.withLock { state in
            if state.expiries.updateValue(.now + lifetime, forKey: mark) == nil { state.order.append(mark) }
            guard state.order.count > capacity else { return }
            // Half of the entries are removed at once, so that this happens rarely.
            for old in state.order.prefix(capacity / 2 + 1) { state.expiries[old] = nil }
            state.order.removeFirst(capacity / 2 + 1)
        }
    }

    /// A keyed hash of credentials; it never leaves this process.
    func mark(_ password: [UInt8], _ hash: PasswordHash, _ name: String) -> [UInt8] {
        HashFunction.sha256.hash(key + Self.message(password, hash, name))
    }

    /// The credentials in one text, each part with its length.
    static func message(_ password: [UInt8], _ hash: PasswordHash, _ name: String) -> [UInt8] {
        var message: [UInt8] = []
        func append(_ part: some Collection<UInt8>) {
            withUnsafeBytes(of: UInt64(part.count).littleEndian) { message.append(contentsOf: $0) }
            message.append(contentsOf: part)
        }
        append(name.utf8)
        append(hash.hash.utf8)
        append(hash.salt.utf8)
        if case .derived(let function, let iterations, let fromSimple) = hash.scheme {
            append(function.rawValue.utf8)
            withUnsafeBytes(of: UInt64(bitPattern: Int64(iterations))) { append($0) }
            message.append(fromSimple ? 1 : 0)
        }
        append(password)
        return message
    }
}

// MARK: - PasswordTicket

/// A cookie that proves that a password was verified. With it, a client that sends name and password with each
/// request needs no new derivation after a restart, or on another node.
///
///     AuthTicket=base64(time : HMAC(secret of the server, time, name, password, stored hash and salt))
///
/// The cookie is valid only together with the password, so a page of another origin or a thief of the cookie gains
/// nothing. A new password has another salt, which ends it. The secret is in the server's settings, which all nodes
/// of a store share.
struct PasswordTicket: Sendable {
    static let name = "AuthTicket"
    /// The time that a ticket is valid, in seconds.
    let lifetime: Int
    private static let length = 32

    /// The credentials that a ticket belongs to.
    struct Credentials: Sendable {
        let name: String
        let password: [UInt8]
        let hash: PasswordHash
    }

    /// The age of a ticket in seconds; `nil` if it is not valid for these credentials.
    func age(
        _ value: String, _ credentials: Credentials, secret: [UInt8], now: Int = SessionCookie.now
    ) -> Int? {
        guard value.utf8.count <= 200, let bytes = Base64.decodeFromURL(value), bytes.count > Self.length + 1,
            bytes[bytes.count - Self.length - 1] == UInt8(ascii: ":"),
            let time = Int(String(decoding: bytes.dropLast(Self.length + 1), as: UTF8.self), radix: 16),
            (0...1 << 40).contains(time), time <= now + 60, now < time + lifetime,
            Secrets.areEqual(Self.code(time, credentials, secret), Array(bytes.suffix(Self.length)))
        else { return nil }
        return max(now - time, 0)
    }

    /// Creates a ticket.
    func value(_ credentials: Credentials, secret: [UInt8], now: Int = SessionCookie.now) -> String {
        let time = Array(String(now, radix: 16).utf8)
        return Base64.encodeForURL(time + [UInt8(ascii: ":")] + Self.code(now, credentials, secret))
    }

    /// Whether a ticket of this age should be replaced.
    func needsRenewal(_ age: Int) -> Bool { age > lifetime / 2 }

    private static func code(_ time: Int, _ credentials: Credentials, _ secret: [UInt8]) -> [UInt8] {
        let message = VerifiedPasswords.message(credentials.password, credentials.hash, credentials.name)
        return HashFunction.sha256.code(of: Array("ticket:\(time):".utf8) + message, key: secret)
    }
}
