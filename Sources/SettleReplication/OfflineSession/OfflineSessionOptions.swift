public import SettleCore
internal import SettleDatabase

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The options of an ``OfflineSession``.
public struct OfflineSessionOptions: Sendable {
    /// The condition under which the server accepts an operation on a document that was changed there meanwhile.
    public enum Acceptance: Sendable {
        /// Never: any difference is a conflict (SEMANTICS 177).
        case unchangedDocument
        /// If the members that the operation changes still have their old values there; other members keep the server's
        /// values. The document's attachments must be unchanged there.
        case unchangedAttributes
    }

    /// The source of the ids of documents created by ``OfflineSession/create(_:)``.
    public enum Identifiers: Sendable {
        /// The client creates them; they are final immediately.
        case client
        /// The server creates them. Until then, documents have temporary ids: `t_1`, `t_2` (SEMANTICS 188).
        case server
    }

    /// When an operation is accepted; by default only on an unchanged document.
    public var acceptance = Acceptance.unchangedDocument
    /// The side that creates ids; the client by default.
    public var identifiers = Identifiers.client
    /// Whether to fetch the changes of other clients after everything was sent; `true` by default.
    public var fetchesAfterPush = true
    /// Whether the session starts online, so that the first change is sent immediately; `true` by default.
    public var startsOnline = true
    /// A member that is set to the server's time when a document is sent; `nil`, the default, for none. Offline the
    /// member stays unchanged (SEMANTICS 174).
    public var stampAttribute: String?
    /// The form of the time in ``stampAttribute``; by default the number of milliseconds since 1970.
    public var stamp: @Sendable (Date) -> JSONValue = { .number(JSONNumber($0.milliseconds)) }
    /// Computes the time of a synchronization from the server's time, if the server sends one. By default it is the
    /// server's time, or the system's without it.
    public var time: @Sendable (Date?) -> Date = { $0 ?? Date() }
    /// The time to wait before retrying an unreachable server.
    public var retry = ReplicationRetryPolicy()
    /// The maximum size of the attachments that are sent with one document, in bytes; 16 MiB by default. They are
    /// held in memory. An operation with more is a conflict with the reason ``OfflineConflict/Reason/refused(_:)``:
    /// discard it, replace it, or replicate the document.
    public var largestAttachments: Int64 = 16 << 20

    /// Creates options with the defaults.
    public init() {}
}
