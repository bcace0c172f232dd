internal import Settle

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Runs random schedules on real databases, and checks after each that nothing was lost and all replicas agree.
///
///     let simulation = Simulation(SimulationOptions())
///     if let failure = try simulation.failure(in: 0..<1000) { print(failure) }
///
/// A seed determines a schedule: some replicas with their policies; users that edit, delete and revive documents;
/// exchanges that are cut short, duplicated, reordered and lost; crashes in the middle of a transaction; compaction
/// and stemming; settling at any time. At its end, all replicas exchange everything and settle until none of them
/// writes. Then every ``SimulationRule`` must hold.
///
/// With the same options, a seed replays its failure. A failure is reduced to the necessary steps.
///
/// Databases are reused between schedules for speed. An instance may be used by one thread at a time; several
/// instances may run concurrently.
///
/// ## Topics
/// ### What is simulated
/// - ``SimulationOptions``
/// - ``SimulatedPolicy``
/// ### What is found
/// - ``run(_:)``
/// - ``failure(in:)``
/// - ``SimulationRule``
public final class Simulation {
    /// The options from which schedules are drawn.
    public let options: SimulationOptions
    private var databases: [TemporaryDatabase] = []
    /// The wall clocks of the databases created last, if changes are stamped.
    private var clocks: [SimulatedClock] = []

    /// Makes a simulation.
    public init(_ options: SimulationOptions = SimulationOptions()) { self.options = options }

    /// Runs the schedule of a seed.
    ///
    /// - Returns: The outcome, with a failure if it broke a rule.
    /// - Throws: ``Settle/DatabaseError`` when databases can't be created.
    public func run(_ seed: UInt64) throws -> SimulationOutcome {
        let schedule = SimulationSchedule(seed: seed, options)
        var outcome = try run(schedule, on: usedDatabases(seed, schedule.replicas)).outcome
        if outcome.failure != nil { outcome.failure = try shrink(schedule) ?? outcome.failure }
        return outcome
    }

    /// The first failure among the schedules of some seeds; `nil` if all succeed.
    ///
    /// - Throws: ``Settle/DatabaseError`` when databases can't be created.
    public func failure(in seeds: Range<UInt64>) throws -> SimulationFailure? {
        for seed in seeds {
            if let failure = try run(seed).failure { return failure }
        }
        return nil
    }

    private func run(
        _ schedule: SimulationSchedule, on databases: [TemporaryDatabase], tells: Bool = false
    ) throws -> SimulationRun {
        let run = SimulationRun(schedule, databases, clocks, tells: tells)
        do { try run.go() } catch let problem as SimulationProblem {
            run.outcome.failure = SimulationFailure(
                seed: schedule.seed, rule: problem.rule, message: problem.message,
                policies: schedule.policies.map(\.name), steps: schedule.steps, story: run.story ?? [])
            self.databases = []
        }
        return run
    }

    /// Removes steps, in ever smaller pieces, while the same rule is still broken; in new databases.
    private func shrink(_ schedule: SimulationSchedule) throws -> SimulationFailure? {
        var best = schedule
        guard let rule = try failure(best)?.rule else { return nil }
        var length = max(best.steps.count / 2, 1)
        while true {
            var start = 0
            var isShorter = false
            while start < best.steps.count {
                var shorter = best
                shorter.steps.removeSubrange(start..<min(start + length, best.steps.count))
                if try failure(shorter)?.rule == rule {
                    best = shorter
                    isShorter = true
                } else {
                    start += length
                }
            }
            if length == 1, !isShorter { break }
            if !isShorter || length > 1 { length = max(length / 2, 1) }
        }
        return try failure(best, tells: true)
    }

    private func failure(_ schedule: SimulationSchedule, tells: Bool = false) throws -> SimulationFailure? {
        let databases =
            try options.attributeClocks
            ? clockedDatabases(schedule.seed, schedule.replicas) : newDatabases(schedule.replicas)
        return try run(schedule, on: databases, tells: tells).outcome.failure
    }

    /// Reused databases, emptied after the last schedule.
    private func usedDatabases(_ seed: UInt64, _ count: Int) throws -> [TemporaryDatabase] {
        // A database with attribute clocks can't be reused, because its clock keeps its state.
        if options.attributeClocks { return try clockedDatabases(seed, count) }
        for temporary in databases {
            for change in try temporary.database.changes() { try temporary.database.purge(change.id) }
            if try temporary.database.revisionLimit() != 1000 { try temporary.database.setRevisionLimit(1000) }
        }
        databases += try newDatabases(max(count - databases.count, 0))
        return Array(databases.prefix(count))
    }

    /// New databases that stamp changes, with wall clocks up to a day apart and names derived from the seed.
    private func clockedDatabases(_ seed: UInt64, _ count: Int) throws -> [TemporaryDatabase] {
        var random = SeededRandom(seed: seed ^ 0xC10C)
        clocks = (0..<count).map { _ in SimulatedClock() }
        return try clocks.enumerated().map { index, clock in
            clock.set(1_700_000_000_000 + Int64(random.below(2 * SimulationRun.day)) - Int64(SimulationRun.day))
            var options = DatabaseOptions()
            options.warn = { _ in }
            options.now = { Date(milliseconds: clock.now) }
            options.attributeClocks = true
            let temporary = try TemporaryDatabase(self.options.kind, options: options)
            try temporary.database.nameClock("d\(index)")
            return temporary
        }
    }

    private func newDatabases(_ count: Int) throws -> [TemporaryDatabase] {
        var quiet = DatabaseOptions()
        quiet.warn = { _ in }
        return try (0..<count).map { _ in try TemporaryDatabase(options.kind, options: quiet) }
    }
}

/// A schedule that broke a rule.
public struct SimulationFailure: Sendable, CustomStringConvertible {
    /// The seed that replays it with the same options.
    public let seed: UInt64
    /// The rule it broke.
    public let rule: SimulationRule
    /// The observation that breaks the rule.
    public let message: String
    /// The policies of the replicas.
    public let policies: [String]
    /// The steps that are necessary to break the rule.
    public let steps: [SimulationStep]
    /// A log of these steps, one line each.
    public let story: [String]

    /// The whole failure as readable text.
    public var description: String {
        """
        seed \(seed) breaks the rule \(rule.rawValue): \(message)
        replicas: \(policies.enumerated().map { "\($0.offset) \($0.element)" }.joined(separator: ", "))
        \(story.joined(separator: "\n"))
        """
    }
}

// MARK: - SimulationRule

/// The rules that a simulation checks.
public enum SimulationRule: String, Sendable, Hashable, CaseIterable, Error {
    /// No call throws that should succeed.
    case noErrors
    /// A rolled-back transaction leaves nothing behind.
    case nothingOfACrash
    /// After some rounds of exchanging everything and settling, no replica writes.
    case quiet
    /// All replicas have the same leaves, the same winner and the same content, and the same tree if nothing was
    /// stemmed.
    case sameEverywhere
    /// No conflict is left that a policy has promised to settle.
    case settled
    /// Every acknowledged leaf has a successor or is still a leaf.
    case nothingLost
    /// Closed revisions were closed in favor of a kept one, or of a user's deletion.
    case superseded
    /// A document that no user has deleted exists.
    case notVanished
    /// An edit that revived a deleted document does not lose against a deletion that its author knew of; with
    /// stemmed paths that can't be known.
    case revived
    /// Replicas that settle the same leaves by the same pure policy write the same revisions, as predicted by a
    /// preview.
    case sameRevisions
    /// The policy that keeps all leaves writes nothing.
    case keepsAll
    /// If changes are stamped and settled by their times, each member ends with its latest change, and no device
    /// stamps a later change with an earlier time.
    case latestStays
    /// The databases are sound.
    case sound
}

// MARK: - SimulationOutcome

/// The outcome of one schedule.
public struct SimulationOutcome: Sendable {
    /// The number of final rounds of exchanging everything and settling until no replica wrote.
    public internal(set) var rounds = 0
    /// The number of steps.
    public internal(set) var steps = 0
    /// The number of acknowledged revisions, including those written by settling.
    public internal(set) var revisions = 0
    /// The number of revisions written by settling.
    public internal(set) var settling = 0
    /// The number of remaining conflicts, because no replica has promised to settle them, or none has the bases.
    public internal(set) var left = 0
    /// The first broken rule, if any.
    public internal(set) var failure: SimulationFailure?

    /// Makes an empty outcome.
    public init() {}

    /// Adds the outcome of another schedule: sums the counts, and keeps the most rounds and the first failure.
    public mutating func add(_ other: SimulationOutcome) {
        rounds = max(rounds, other.rounds)
        steps += other.steps
        revisions += other.revisions
        settling += other.settling
        left += other.left
        failure = failure ?? other.failure
    }
}
