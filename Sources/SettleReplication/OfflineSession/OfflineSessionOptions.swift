public import RevisionTree
internal import SettleDatabase

/// How an ``OfflineSession`` works.
public struct OfflineSessionOptions: Sendable {
    /// When the server takes an operation on a document that was changed there meanwhile.
    public enum Acceptance: Sendable {
        /// Never: any difference is a conflict (SEMANTICS 177).
        case unchangedDocument
        /// When the members the operation changes still have their old values there; the others' changes stay. Attachments
        /// count as one member.
        case unchangedAttributes
    }

    /// Who makes the ids of documents that are made with ``OfflineSession/create(_:)``.
    public enum Identifiers: Sendable {
        /// This client; they are final at once.
        case client
        /// The server. Until it is asked for them, documents have temporary ones: `t_1`, `t_2` (SEMANTICS 188).
        case server
    }

    /// When an operation is taken; only on an unchanged document unless set.
    public var acceptance = Acceptance.unchangedDocument
    /// Who makes ids; the client unless set.
    public var identifiers = Identifiers.client
    /// Whether what others changed is fetched when everything is sent; true unless set.
    public var fetchesAfterPush = true
    /// Whether the session begins online, so that the first change is sent at once; true unless set.
    public var startsOnline = true
    /// A member in which each document is stamped with the server's time when it is sent, in milliseconds since 1970; none
    /// unless set. Offline it stays as it is (SEMANTICS 174).
    public var stampMember: String?
    /// What a time is written as in ``stampMember``; the number of milliseconds unless set.
    public var stamp: @Sendable (Int64) -> JSON = { .number(JSONNumber($0)) }
    /// Tells the time of a synchronization, in milliseconds since 1970, from what the server's clock shows, if it tells;
    /// that time, or else the system's, unless set.
    public var time: @Sendable (Int64?) -> Int64 = { $0 ?? DatabaseOptions().now() }
    /// How long to wait before a server that was not reached is asked again.
    public var retry = RetryPolicy()
    /// How many bytes the attachments may have that are sent with one document, which are in memory then; 16 MiB unless set.
    /// One with more is refused here: replicate it.
    public var largestAttachments: Int64 = 16 << 20

    /// Makes options with the defaults.
    public init() {}
}
