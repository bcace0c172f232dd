public import SettleCore
internal import SettleDatabase

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The options of an ``OfflineSession``.
public struct OfflineSessionOptions: Sendable {
    /// When the server accepts an operation on a document that was changed there meanwhile.
    public enum Acceptance: Sendable {
        /// Never: any difference is a conflict (SEMANTICS 177).
        case unchangedDocument
        /// If the members that the operation changes still have their old values there; other members keep the server's
        /// values. Attachments count as one member.
        case unchangedAttributes
    }

    /// How documents created by ``OfflineSession/create(_:)`` get their ids.
    public enum Identifiers: Sendable {
        /// The client makes them; they are final immediately.
        case client
        /// The server makes them. Until then, documents have temporary ids: `t_1`, `t_2` (SEMANTICS 188).
        case server
    }

    /// When an operation is accepted; only on an unchanged document by default.
    public var acceptance = Acceptance.unchangedDocument
    /// Where ids come from; the client by default.
    public var identifiers = Identifiers.client
    /// Whether changes of others are fetched after everything is sent; true by default.
    public var fetchesAfterPush = true
    /// Whether the session starts online, so that the first change is sent immediately; true by default.
    public var startsOnline = true
    /// A member that is set to the server's time when a document is sent; none by default.
    /// Offline it stays unchanged (SEMANTICS 174).
    public var stampMember: String?
    /// How a time is written in ``stampMember``; as the number of milliseconds since 1970 by default.
    public var stamp: @Sendable (Date) -> JSONValue = { .number(JSONNumber($0.milliseconds)) }
    /// Computes the time of a synchronization from the server's time if it sends one.
    /// Unless set, that is the server's time or else the system's.
    public var time: @Sendable (Date?) -> Date = { $0 ?? Date() }
    /// The time to wait before retrying an unreachable server.
    public var retry = ReplicationRetryPolicy()
    /// The number of bytes that the attachments sent with one document may have; they are held in memory. 16 MiB by default. A
    /// document with more is refused: replicate it instead.
    public var largestAttachments: Int64 = 16 << 20

    /// Creates options with the defaults.
    public init() {}
}
