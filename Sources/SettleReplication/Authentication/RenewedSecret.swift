internal import SettleDatabase
internal import SettlePlatform

/// A secret that expires: a session cookie or a token. Concurrent requests share one renewal.
final class RenewedSecret: Sendable {
    /// A secret and when it expires, in seconds since 1970; `nil` if unknown.
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
    /// How many seconds before it expires a secret is renewed.
    private let margin: Double

    init(
        margin: Double, clock: @escaping @Sendable () -> Double, make: @escaping @Sendable () async throws -> Secret
    ) {
        self.margin = margin
        self.clock = clock
        self.make = make
    }

    /// The secret; renewed if it is missing or about to expire.
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

    /// Takes a secret that the server sent unasked.
    func replace(_ secret: Secret) { state.withLock { $0.secret = secret } }

    /// Discards a rejected secret, if it is still the one in use.
    func forget(_ text: String) { state.withLock { if $0.secret?.text == text { $0.secret = nil } } }

    private func isFresh(_ secret: Secret) -> Bool {
        guard let end = secret.end else { return true }
        return clock() < end - margin
    }
}
