/// Devices of several kinds and clients of CouchDB's API that edit documents of one server apart, and replicate until all are
/// quiet: whether all have the same then, and nothing was lost.
///
///     let fleet = try Fleet(FleetOptions())
///     if let failure = try await fleet.failure(in: 0..<1000) { print(failure) }
///
/// The server is Settle's own: its router, and its sessions of Couchbase Mobile's protocol, in the process and without sockets.
/// The devices with Couchbase Lite are models; see ``LiteDevice``. A seed decides all: which devices there are, how they settle,
/// what happens in which order.
package final class Fleet {
    private let server: FleetServer
    private let options: FleetOptions

    package init(_ options: FleetOptions = FleetOptions()) throws {
        self.options = options
        server = try FleetServer(options.fault)
    }

    /// Runs a seed.
    package func run(_ seed: UInt64) async throws -> FleetOutcome {
        try server.clear()
        let run = try FleetRun(seed, server, tells: options.tells)
        do { try await run.go() } catch let problem as FleetProblem {
            run.outcome.failure = FleetFailure(
                seed: seed, rule: problem.rule, message: problem.message, devices: run.names, story: run.story)
        }
        return run.outcome
    }

    /// Runs seeds until one breaks a rule, and returns that failure; `nil` if all seeds hold.
    package func failure(in seeds: Range<UInt64>) async throws -> FleetFailure? {
        for seed in seeds {
            if let failure = try await run(seed).failure { return failure }
        }
        return nil
    }
}

/// What a fleet is run with.
package struct FleetOptions: Sendable {
    /// A fault that the server is given.
    package var fault: PlantedFault?
    /// Whether a failure says what has happened.
    package var tells = true

    package init(fault: PlantedFault? = nil) { self.fault = fault }
}

/// What a run has come to.
package struct FleetOutcome: Sendable {
    package var failure: FleetFailure?
    package var edits = 0
    /// How many revisions moved after the last edit, and in how many rounds.
    package var moved = 0
    package var rounds = 0

    /// Adds another run.
    package mutating func add(_ other: FleetOutcome) {
        failure = failure ?? other.failure
        edits += other.edits
        moved += other.moved
        rounds = max(rounds, other.rounds)
    }

    package init() {}
}

/// What must hold when a fleet is quiet.
package enum FleetRule: String, Sendable, CaseIterable {
    /// All devices are quiet after four rounds.
    case quiet
    /// All devices and the server have the same documents and contents.
    case equal
    /// No conflict is open.
    case settled
    /// No device has an edit that the server lacks.
    case sent
    /// Every word is there that no rule gave up.
    case words
    /// No replicator has stopped for good.
    case running
    /// A device that edits after it has pulled, and pushes at once, meets no conflict.
    case apart
}

/// A rule that was broken.
struct FleetProblem: Error {
    let rule: FleetRule
    let message: String
}

/// A seed that breaks a rule.
package struct FleetFailure: Error, Sendable, CustomStringConvertible {
    package let seed: UInt64
    package let rule: FleetRule
    package let message: String
    package let devices: [String]
    package let story: [String]

    package var description: String {
        (["seed \(seed) breaks the rule \(rule.rawValue): \(message)", "devices: \(devices.joined(separator: ", "))"]
            + story).joined(separator: "\n")
    }
}
