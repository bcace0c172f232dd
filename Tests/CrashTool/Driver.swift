import Foundation
import Settle
import SettleTesting

/// Repeatedly starts the writing process, kills it, and checks the database.
///
/// Each database is used for a few rounds, half of them with `full` durability, half with a journal. The seed determines the
/// operations of each thread and the moment of each kill, but not how far the process has come by then.
struct Driver {
    let rounds: Int
    let seed: UInt64
    let executable: String
    private var random: SeededRandom
    private var folder = ""
    private var ledger = Ledger()
    private var cut = (whole: 0, gone: 0)
    private let room: URL
    private static let roundsPerDatabase = 10

    init(rounds: Int, seed: UInt64, executable: String) throws {
        self.rounds = rounds
        self.seed = seed
        self.executable = executable
        random = SeededRandom(seed: seed)
        room = FileManager.default.temporaryDirectory.appending(path: "settle-crash-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: room, withIntermediateDirectories: true)
    }

    /// Runs all rounds; returns the number of failed ones.
    mutating func run() throws -> Int {
        var failed = 0
        var operations = 0
        var settled = 0
        var needsFresh = true
        for round in 0..<rounds {
            if needsFresh || round % Self.roundsPerDatabase == 0 { try begin(round) }
            let problems = attempt(round)
            operations += ledger.acknowledged
            settled += ledger.settled
            needsFresh = !problems.isEmpty
            if needsFresh { failed += 1 }
            for problem in problems.prefix(10) { say("round \(round): \(problem)") }
            if needsFresh { say("round \(round): SEED=\(seed) replays it; the database is in \(folder)") }
            if (round + 1) % 20 == 0 || round + 1 == rounds {
                say(
                    """
                    \(round + 1) of \(rounds) rounds, \(operations) operations acknowledged, \(settled) of them \
                    settlements; \(cut.whole + cut.gone) settlements were cut, \(cut.whole) of them are there whole; \
                    \(failed) failed
                    """)
            }
        }
        if failed == 0 { try FileManager.default.removeItem(at: room) }
        say("\(rounds - failed) passed, \(failed) failed")
        return failed
    }

    private mutating func begin(_ round: Int) throws {
        if ledger.complaints.isEmpty, !folder.isEmpty, round % Self.roundsPerDatabase == 0 {
            try? FileManager.default.removeItem(atPath: folder)
        }
        folder = room.appending(path: "\(round).settle").path
        ledger = Ledger()
    }

    private mutating func attempt(_ round: Int) -> [String] {
        do {
            let database = round / Self.roundsPerDatabase
            let durability = database % 2 == 0 ? Durability.normal : .full
            try writeAndKill(round, durability, hasJournal: [0, 3].contains(database % 4))
            return try check()
        } catch { return ["\(error)"] }
    }

    /// How long the process may run, in microseconds: often long enough to write, sometimes only to start.
    private mutating func lifetime() -> UInt32 {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: UInt32.random(in: 0..<60_000, using: &random)
        case 1: UInt32.random(in: 20_000..<200_000, using: &random)
        default: UInt32.random(in: 100_000..<700_000, using: &random)
        }
    }

    private mutating func writeAndKill(_ round: Int, _ durability: Durability, hasJournal: Bool) throws {
        let journal = room.appending(path: "journal")
        try Data().write(to: journal)
        let output = try FileHandle(forWritingTo: journal)
        defer { try? output.close() }
        let writer = Process()
        writer.executableURL = URL(filePath: executable)
        writer.arguments = ["write", folder, "\(random.next())", durability.rawValue, hasJournal ? "journal" : "plain"]
        writer.standardOutput = output
        writer.standardInput = FileHandle.nullDevice
        let lifetime = lifetime()
        try writer.run()
        // The moment of the kill is what a round tries.
        usleep(lifetime)
        let looksIn = Int.random(in: 0..<4, using: &random) == 0
        let isOpen = looksIn ? try !Data(contentsOf: journal).isEmpty : false
        let isKept = isOpen ? isInUse() : true
        kill(writer.processIdentifier, SIGKILL)
        writer.waitUntilExit()
        ledger.beginRound()
        ledger.read(String(decoding: try Data(contentsOf: journal), as: UTF8.self))
        let endedByKill = writer.terminationReason == .uncaughtSignal && writer.terminationStatus == SIGKILL
        guard endedByKill else { throw Failure("the process ended by itself: \(writer.terminationStatus)") }
        guard isKept else { throw Failure("a database that another process has open could be opened") }
    }

    private struct Failure: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    private func isInUse() -> Bool {
        do { try Database.open(folder).close() } catch let error as DatabaseError {
            return error.code == .inUse
        } catch { return false }
        return false
    }

    /// Opens the database after the kill, which must not be locked any more, and checks it.
    private mutating func check() throws -> [String] {
        let database: Database
        do { database = try Database.open(folder, options: Self.quiet) } catch let error as DatabaseError
            where error.code == .notFound
        {
            // Killed before it had created the database, so nothing can have been acknowledged.
            return ledger.isReady || !ledger.debts.isEmpty ? ["the database is gone"] : []
        }
        defer { database.close() }
        var checker = Checker(database)
        try checker.check(&ledger)
        cut.whole += checker.cutAndWhole
        cut.gone += checker.cutAndGone
        if checker.problems.isEmpty {
            try checker.settleAgain(everything: Int.random(in: 0..<4, using: &random) == 0)
        }
        return checker.problems
    }

    /// Suppresses the warnings about racing answers, which are merged constantly.
    private static var quiet: DatabaseOptions {
        var options = DatabaseOptions()
        options.warn = { _ in }
        return options
    }

    private func say(_ line: String) {
        print(line)
        fflush(nil)
    }
}
