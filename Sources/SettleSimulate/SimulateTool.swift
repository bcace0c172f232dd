internal import Settle
internal import SettleFleet
internal import SettlePlatform
internal import SettleTesting

/// The tool `settle-simulate`: tests that settling converges.
///
/// Its exit code is 0 if all rules hold, 1 if one is broken, and 2 for a wrong command line.
@main
struct SimulateTool {
    static func main() async {
        exit(await run(Array(CommandLine.arguments.dropFirst())))
    }

    private static func run(_ words: [String]) async -> Int32 {
        do {
            let arguments = try SimulationArguments(words)
            if arguments.wantsHelp {
                print(SimulationArguments.help)
                return 0
            }
            return try await arguments.isFleet ? FleetCommand.run(arguments) : simulate(arguments)
        } catch let error as SimulationArguments.Failure {
            complain("settle-simulate: \(error.message). `settle-simulate --help` says more")
            return 2
        } catch {
            complain("settle-simulate: \(error)")
            return 1
        }
    }

    private static func complain(_ line: String) { writeError(line + "\n") }

    /// Writes to standard error at once.
    private static func writeError(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(2, bytes, bytes.count)
    }

    private static func simulate(_ arguments: SimulationArguments) throws -> Int32 {
        let simulation = Simulation(arguments.options)
        let clock = ContinuousClock()
        let (start, isWatched) = (clock.now, isatty(2) == 1 && !arguments.isJSON)
        var total = SimulationOutcome()
        var schedules = 0
        while schedules < arguments.rounds, total.failure == nil {
            total.add(try simulation.run(UInt64(arguments.seed + schedules)))
            schedules += 1
            if isWatched, schedules % 100 == 0 { writeError("\r\(schedules) of \(arguments.rounds)") }
        }
        if isWatched { writeError("\r\u{1B}[K") }
        if arguments.isJSON {
            print(json(total, schedules).description)
        } else {
            print(text(total, schedules, clock.now - start, arguments))
        }
        return total.failure == nil ? 0 : 1
    }

    private static func text(
        _ total: SimulationOutcome, _ schedules: Int, _ time: Duration, _ arguments: SimulationArguments
    ) -> String {
        if let failure = total.failure {
            return "Broken after \(schedules) schedules\n\(failure)\nReplay it: \(arguments.replay(failure.seed))"
        }
        let left = total.left == 0 ? "" : ", \(total.left) conflicts left as promised"
        return """
            All rules hold: \(schedules) schedules, \(total.steps) steps, \(total.revisions) revisions \
            (\(total.settling) written by settling), quiet after at most \(total.rounds) rounds\(left), \
            in \(time.components.seconds) s
            """
    }

    private static func json(_ total: SimulationOutcome, _ schedules: Int) -> JSONValue {
        func number(_ value: Int) -> JSONValue { .number(JSONNumber(value)) }
        let failure = total.failure.map { failure -> JSONValue in
            [
                "seed": number(Int(failure.seed)), "rule": .string(failure.rule.rawValue),
                "message": .string(failure.message), "policies": .array(failure.policies.map(JSONValue.string)),
                "story": .array(failure.story.map(JSONValue.string)),
            ]
        }
        return [
            "ok": .bool(total.failure == nil), "schedules": number(schedules), "steps": number(total.steps),
            "revisions": number(total.revisions), "by_settling": number(total.settling),
            "most_rounds": number(total.rounds), "left": number(total.left), "failure": failure ?? .null,
        ]
    }
}
