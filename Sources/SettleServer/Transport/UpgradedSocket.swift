internal import SettlePlatform

/// The socket of a connection that is no longer HTTP's. Its owner reads and writes it without waiting, and gives it back once.
struct UpgradedSocket: Sendable {
    let descriptor: Int32
    /// What has come behind the request.
    let first: [UInt8]
    /// Who is at the other end.
    let peer: String
    /// Gives it back to the transport, which closes it.
    let giveBack: @Sendable () -> Void
}
