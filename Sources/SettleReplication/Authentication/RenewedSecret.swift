internal import SettleDatabase
internal import SettlePlatform

/// A secret that runs out: a cookie of a session, or a token. Whoever needs it while it is being made waits for the one that
/// is under way.
final class RenewedSecret: Sendable {
    /// A secret and when it runs out, in seconds since 1970; `nil` when nobody knows.
    struct Secret: Sendable {
        let text: String
        let end: Double?
    }

    private struct State {
        var secret: Secret?
        var making: Task<Secret, any Error>?
    }

    private let state = Guarded(State())
    private let clock: @Sendable () -> Double
    private let make: @Sendable () async throws -> Secret
    /// How many seconds before its end a secret is not used any more.
    private let margin: Double

    init(
        margin: Double, clock: @escaping @Sendable () -> Double, make: @escaping @Sendable () async throws -> Secret
    ) {
        self.margin = margin
        self.clock = clock
        self.make = make
    }

    /// The secret, made if there is none that is good for a while.
    func text() async throws -> String {
        let (secret, making) = state.withLock { state -> (Secret?, Task<Secret, any Error>?) in
            if let secret = state.secret, isFresh(secret) { return (secret, nil) }
            if let making = state.making { return (nil, making) }
            let making = Task { try await makeAndKeep() }
            state.making = making
            return (nil, making)
        }
        if let secret { return secret.text }
        guard let making else { return "" }
        return try await making.value.text
    }

    private func makeAndKeep() async throws -> Secret {
        let result: Result<Secret, any Error>
        do { result = .success(try await make()) } catch { result = .failure(error) }
        state.withLock { state in
            state.making = nil
            state.secret = try? result.get()
        }
        return try result.get()
    }

    /// Takes a secret that came by itself.
    func replace(_ secret: Secret) { state.withLock { $0.secret = secret } }

    /// Forgets a secret that was refused, if it is still the one in use.
    func forget(_ text: String) { state.withLock { if $0.secret?.text == text { $0.secret = nil } } }

    private func isFresh(_ secret: Secret) -> Bool {
        guard let end = secret.end else { return true }
        return clock() < end - margin
    }
}
