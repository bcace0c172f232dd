/// A simulation of devices of several kinds and clients of CouchDB's API. They edit the same server's documents
/// independently, and replicate until all are quiet. Then the simulation checks that all have the same documents
/// and nothing was lost.
///
///     let fleet = try Fleet(FleetOptions())
///     if let failure = try await fleet.failure(in: 0..<1000) { print(failure) }
///
/// The server is Settle's own: its router and its sessions of Couchbase Mobile's protocol, in this process and
/// without sockets. Devices with Couchbase Lite are models; see ``LiteDevice``. A seed determines everything: which
/// devices there are, how they settle, and what happens in which order.
package final class Fleet {
    private let server: FleetServer
    private let options: FleetOptions

    package init(_ options: FleetOptions = FleetOptions()) throws {
        self.options = options
        server = try FleetServer(options.fault)
    }

    /// Runs a seed.
    package func run(_ seed: UInt64) async throws -> FleetOutcome { try await run(seed, without: FleetCut()) }

    private func run(_ seed: UInt64, without cut: FleetCut) async throws -> FleetOutcome {
        try server.clear()
        let run = try FleetRun(seed, server, without: cut, tells: options.tells)
        do { try await run.go() } catch let problem as FleetProblem {
            run.outcome.failure = FleetFailure(
                seed: seed, rule: problem.rule, message: problem.message, devices: run.names, story: run.story,
                parts: run.parts)
        }
        return run.outcome
    }

    /// Leaves out devices and steps of a failed run while it still breaks the same rule.
    ///
    /// - Returns: The shortest run that was found.
    package func shrink(_ failure: FleetFailure) async throws -> FleetFailure {
        var (best, cut) = (failure, FleetCut())
        func tries(_ more: FleetCut) async throws -> Bool {
            let shorter = cut.union(more)
            guard let found = try await run(failure.seed, without: shorter).failure, found.rule == failure.rule else {
                return false
            }
            (best, cut) = (found, shorter)
            return true
        }
        for device in failure.parts.devices.sorted() { _ = try await tries(FleetCut(devices: [device])) }
        var size = failure.parts.steps.count / 2
        while size > 0 {
            let left = failure.parts.steps.subtracting(cut.steps).sorted()
            var hasShrunk = false
            for start in stride(from: 0, to: left.count, by: size) {
                let steps = Set(left[start..<min(start + size, left.count)])
                if try await tries(FleetCut(steps: steps)) { hasShrunk = true }
            }
            if size > 1 || !hasShrunk { size /= 2 }
        }
        return best
    }

    /// Runs seeds until one breaks a rule, and returns that failure; `nil` if all seeds hold.
    ///
    /// A run hardly ever waits, so this nearly always keeps its thread until it returns.
    ///
    /// - Throws: `CancellationError` between two seeds, if the task is cancelled.
    package func failure(in seeds: Range<UInt64>) async throws -> FleetFailure? {
        for seed in seeds {
            try Task.checkCancellation()
            if let failure = try await run(seed).failure { return failure }
        }
        return nil
    }
}

/// The options of a fleet's runs.
package struct FleetOptions: Sendable {
    /// A fault to plant in the server.
    package var fault: PlantedFault?
    /// Whether a failure includes a log of the run.
    package var tells = true

    package init(fault: PlantedFault? = nil) { self.fault = fault }
}

/// The outcome of one or several runs.
package struct FleetOutcome: Sendable {
    package var failure: FleetFailure?
    package var edits = 0
    /// The number of revisions that moved after the last edit, and the number of rounds.
    package var moved = 0
    package var rounds = 0

    /// Adds the outcome of another run.
    package mutating func add(_ other: FleetOutcome) {
        failure = failure ?? other.failure
        edits += other.edits
        moved += other.moved
        rounds = max(rounds, other.rounds)
    }

    package init() {}
}

/// The steps and devices of a run that are left out.
struct FleetCut: Sendable {
    var steps: Set<Int> = []
    var devices: Set<String> = []

    func union(_ other: FleetCut) -> FleetCut {
        FleetCut(steps: steps.union(other.steps), devices: devices.union(other.devices))
    }
}

/// The rules that hold when a fleet is quiet.
package enum FleetRule: String, Sendable, CaseIterable {
    /// All devices are quiet after four rounds.
    case quiet
    /// All devices and the server have the same documents and contents.
    case equal
    /// No conflict is open.
    case settled
    /// No device has an edit that the server lacks.
    case sent
    /// Every word exists that no rule gave up.
    case words
    /// No replicator has stopped permanently.
    case running
    /// A device that edits directly after a pull, and pushes at once, meets no conflict.
    case apart
}

/// A rule that was broken.
struct FleetProblem: Error {
    let rule: FleetRule
    let message: String
}

/// A seed that breaks a rule, with the shortest run found.
package struct FleetFailure: Error, Sendable, CustomStringConvertible {
    package let seed: UInt64
    package let rule: FleetRule
    package let message: String
    package let devices: [String]
    package let story: [String]
    /// The parts that a shorter run may leave out.
    let parts: FleetCut

    package var description: String {
        (["seed \(seed) breaks the rule \(rule.rawValue): \(message)", "devices: \(devices.joined(separator: ", "))"]
            + story).joined(separator: "\n")
    }
}
