package import SettleCore
internal import SettlePlatform

/// The maximum age of the state that a call reads from a shared storage engine.
///
/// An engine that several processes share checks the current state before it uses cached data. Within
/// ``answering(_:)``, a state that was read since its beginning counts as current, so a request checks once and not
/// at each use.
public enum Freshness {
    /// The request of this thread; `nil` outside of requests.
    @TaskLocal package static var request: SharedRequest?

    /// Runs a closure that answers one request. For it, a state that was read since it began is current.
    ///
    /// - Parameter body: The closure.
    /// - Returns: The result of the closure.
    public static func answering<Result>(_ body: () throws -> Result) rethrows -> Result {
        try answering(SharedRequest(), body)
    }

    /// Runs a closure that answers a request, or goes on with one that another thread has begun.
    package static func answering<Result>(_ request: SharedRequest, _ body: () throws -> Result) rethrows -> Result {
        try $request.withValue(request, operation: body)
    }

    /// Whether a state may be used, given the time at which its reading began.
    public static func accepts(readAt moment: ContinuousClock.Instant) -> Bool {
        request.map { moment >= $0.begun } ?? false
    }
}

/// A request to a store that several processes share.
///
/// If it is known which document the request reads first, the store reads it together with what other nodes have
/// changed, so the request needs one round trip and not two:
///
///     freshen: the database's row, the accounts' row, …, the document ─→ one round trip
///     the first reading of the document                               ─→ what was read ahead, once
package final class SharedRequest: Sendable {
    /// A document by the name of its database.
    package struct Expected: Sendable {
        package let database: String
        package let id: DocumentID

        package init(_ id: DocumentID, in database: String) { (self.id, self.database) = (id, database) }
    }

    /// What a store has read of the expected document.
    package struct Document: Sendable {
        /// The number of the database from which it was read.
        package let number: Int64
        package let id: DocumentID
        /// `nil` if the document does not exist.
        package let record: DocumentRecord?
        /// The number of later changes of the tree alone.
        package let edition: Int64
        /// The newest sequence of the database just before.
        package let sequence: UpdateSequence
        fileprivate let readAt: ContinuousClock.Instant

        package init(
            _ id: DocumentID, _ record: DocumentRecord?, edition: Int64, of number: Int64, at sequence: UpdateSequence,
            readAt: ContinuousClock.Instant = .now
        ) {
            (self.id, self.record, self.edition) = (id, record, edition)
            (self.number, self.sequence, self.readAt) = (number, sequence, readAt)
        }
    }

    package let begun = ContinuousClock.now
    /// The document that is read first; `nil` if that is not known.
    package let expected: Expected?
    private let ahead = Guarded<Document?>(nil)
    private let validity: Duration

    /// - Parameters:
    ///   - expected: The document that the request reads first.
    ///   - validity: How long a document that was read ahead is used. A request may wait for a script, or for the rest of a long body.
    package init(expecting expected: Expected? = nil, validity: Duration = .milliseconds(100)) {
        (self.expected, self.validity) = (expected, validity)
    }

    /// Keeps what was read ahead.
    package func keep(_ document: Document) { ahead.withLock { $0 = document } }

    /// The document that was read ahead, once: a request that reads it again wants to see what has happened since.
    package func take(_ id: DocumentID, of number: Int64) -> Document? {
        ahead.withLock { ahead in
            guard let kept = ahead, kept.number == number, kept.id == id else { return nil }
            ahead = nil
            return kept.readAt + validity > .now ? kept : nil
        }
    }
}

/// Records whether the thread produces the rest of an answer of which a part was already sent.
///
/// In this case the client can't be asked to retry anymore, so a store waits longer for its resources.
package enum StartedAnswer {
    @TaskLocal private static var isThere = false

    /// Whether a part of the answer was already sent.
    package static var isUnderWay: Bool { isThere }

    /// Runs a closure that produces a part of an answer.
    ///
    /// - Parameters:
    ///   - hasBegun: Whether a part was already sent.
    ///   - body: The closure.
    /// - Returns: The result of the closure.
    package static func producing<Result>(hasBegun: Bool, _ body: () throws -> Result) rethrows -> Result {
        hasBegun ? try $isThere.withValue(true, operation: body) : try body()
    }
}
