public import SettleCore

/// The result of settling all conflicts of a database.
public struct SettlementReport: Sendable {
    /// A conflict that stays, with the reason.
    public struct Failure: Sendable {
        /// The document.
        public let documentID: DocumentID
        /// Why its conflict was not settled.
        public let error: DatabaseError
    }

    /// How many conflicts were settled.
    public internal(set) var settled = 0
    /// How many the policy left (SEMANTICS 75).
    public internal(set) var left = 0
    /// How many no longer existed when their turn came.
    public internal(set) var gone = 0
    /// How many could not be settled.
    public internal(set) var failed = 0
    /// The first 1000 of those that could not be settled.
    public internal(set) var failures: [Failure] = []
    /// How many had racing answers.
    public internal(set) var races = 0
    /// How many revisions were written.
    public internal(set) var revisionsWritten = 0
    /// The policy's total time.
    public internal(set) var timeInPolicy: Duration = .zero
    /// The document for which the policy took longest, with the time.
    public internal(set) var slowest: (documentID: DocumentID, time: Duration)?
    /// Other resolvers, or other versions of this one, that decided before.
    public internal(set) var otherResolvers: Set<ResolverIdentity> = []

    private static let maximumFailures = 1000

    /// How many conflicts were processed.
    public var total: Int { settled + left + gone + failed }

    mutating func add(_ settlement: Settlement) {
        switch settlement.outcome {
        case .settled: settled += 1
        case .left: left += 1
        case .nothing: gone += 1
        }
        if !settlement.racingAnswers.isEmpty { races += 1 }
        revisionsWritten += settlement.written.count
        timeInPolicy += settlement.timeInPolicy
        otherResolvers.formUnion(settlement.otherResolvers)
        if settlement.attempts > 0, settlement.timeInPolicy > slowest?.time ?? .zero {
            slowest = (settlement.documentID, settlement.timeInPolicy)
        }
    }

    mutating func add(_ error: DatabaseError, _ id: DocumentID) {
        if error.code == .notFound {
            gone += 1
            return
        }
        failed += 1
        if failures.count < Self.maximumFailures { failures.append(Failure(documentID: id, error: error)) }
    }
}
