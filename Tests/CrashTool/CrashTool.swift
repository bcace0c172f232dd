import Foundation
import Settle
import SettleImport
import SettleTesting

/// The program of the crash test and of the format fixture; Settle does not ship it.
///
///     CrashTool drive [ROUNDS] [SEED]               kill and check, repeatedly
///     CrashTool write FOLDER SEED DURABILITY KIND   write until killed
///     CrashTool share FOLDER NAME COUNT             add documents, by turns with other processes
///     CrashTool alone FOLDER NAME COUNT             add documents, with no other process
///     CrashTool migrate FILE FOLDER                 open a database as an app does that has moved to Settle
///     CrashTool fixture FOLDER                      make the fixture of the format
///     CrashTool corpus FOLDER                       make seeds for the fuzzers
@main enum CrashTool {
    static func main() throws {
        signal(SIGPIPE, SIG_IGN)
        let arguments = CommandLine.arguments.dropFirst()
        switch (arguments.first, Array(arguments.dropFirst())) {
        case ("drive", let rest):
            let seed = rest.count > 1 ? UInt64(rest[1]) : nil
            var driver = try Driver(
                rounds: rest.first.flatMap { Int($0) } ?? 200, seed: seed ?? UInt64.random(in: 0..<1_000_000),
                executable: ownPath())
            print("SEED=\(driver.seed)")
            if try driver.run() > 0 { exit(1) }
        case ("write", let rest) where rest.count == 4:
            write(
                into: rest[0], seed: UInt64(rest[1]) ?? 0, Durability(rawValue: rest[2]) ?? .normal,
                hasJournal: rest[3] == "journal")
        case (let how?, let rest) where ["share", "alone"].contains(how) && rest.count == 3:
            try Sharer.run(rest[0], name: rest[1], count: Int(rest[2]) ?? 0, isShared: how == "share")
        case ("migrate", let rest) where rest.count == 2:
            try Database.openOrCreate(rest[1], migratingFrom: URL(filePath: rest[0])).close()
        case ("fixture", let rest) where rest.count == 1: try Fixture(folder: rest[0]).make()
        case ("corpus", let rest) where rest.count == 1: try Corpus(folder: rest[0]).make()
        default:
            print(
                """
                usage: CrashTool drive [ROUNDS] [SEED] | write FOLDER SEED full|normal journal|plain
                    | share|alone FOLDER NAME COUNT | migrate FILE FOLDER | fixture|corpus FOLDER
                """
            )
            exit(2)
        }
    }

    private static func ownPath() -> String {
        Bundle.main.executablePath ?? CommandLine.arguments[0]
    }

    /// Writes with several threads until the process is killed.
    private static func write(into folder: String, seed: UInt64, _ durability: Durability, hasJournal: Bool) {
        do {
            var options = DatabaseOptions()
            options.journal = hasJournal
            options.durability = durability
            // Racing answers are merged constantly, and each would print a warning.
            options.warn = { _ in }
            let database = try Database.openOrCreate(folder, options: options)
            Journal.note("ready")
            let gate = SettlingGate()
            for number in 0..<4 {
                let random = SeededRandom(seed: seed &+ UInt64(number) &* 0x1234_5678_9ABC_DEF1)
                Thread.detachNewThread {
                    var thread = WritingThread(database: database, number: number, gate: gate, random: random)
                    do { try thread.run() } catch {
                        Journal.note("!", "\(error)".replacing("\n", with: " "))
                        exit(3)
                    }
                }
            }
        } catch {
            Journal.note("!", "\(error)".replacing("\n", with: " "))
            exit(3)
        }
        while true { pause() }
    }
}
