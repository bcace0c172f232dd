internal import SettleMobile

/// What handles the messages of a mobile connection.
protocol ConnectionOwner: AnyObject, Sendable {
    /// Whether so much waits that no more is to be read.
    var isBusy: Bool { get }

    /// The account of the connection. All connections of one account share a part of the memory.
    var account: String { get }
    /// The bytes of messages that wait here.
    var bytesInMemory: Int { get }

    /// Takes a request; must not wait.
    func take(_ message: BLIPMessage)

    /// Says that there may be room or reason to send more; must not wait.
    func advance()

    /// Puts a broken rule into the log.
    func note(_ error: any Error)

    /// Says that the connection is gone.
    func end()
}
