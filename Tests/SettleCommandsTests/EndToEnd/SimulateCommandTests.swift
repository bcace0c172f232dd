import Settle
import Testing

/// The tool `settle-simulate`, which is in the folder of `settle`.
struct SimulateCommandTests {
    let room: Room

    init() throws { room = try Room() }

    private func simulate(_ words: String...) throws -> Room.Outcome {
        try room.run(all: words, program: "settle-simulate")
    }

    @Test func `schedules are tried, and summarised`() throws {
        let words = ["--seed", "3", "--rounds", "5", "--replicas", "2", "--policy", "deletesWin", "--json"]
        let outcome = try room.run(all: words, program: "settle-simulate")
        #expect(outcome.status == 0 && outcome.errors.isEmpty)
        #expect(outcome.json["ok"] == true && outcome.json["schedules"] == 5 && outcome.json["failure"] == .null)
        #expect(outcome.json["steps"]?.int ?? 0 > 0)
        // The same seeds give the same schedules.
        #expect(try room.run(all: words, program: "settle-simulate").output == outcome.output)
        #expect(try simulate("--rounds", "2", "--files").output.contains("All rules hold: 2 schedules"))
    }

    @Test(.timeLimit(.minutes(30)))
    func `the command that replays a fleet names each option once, and breaks the same rule`() throws {
        let outcome = try simulate("--fleet", "--fault", "lostBlobs", "--rounds", "2000")
        #expect(outcome.status == 1)
        let line = try #require(outcome.lines.first { $0.hasPrefix("Replay it: settle-simulate ") })
        let words = line.split(separator: " ").dropFirst(3).map(String.init)
        #expect(words.count { $0 == "--fleet" } == 1 && words.count { $0 == "--fault" } == 1, "\(line)")
        let again = try room.run(all: words, program: "settle-simulate")
        #expect(again.status == 1 && again.lines.last == line)
    }

    @Test func `invalid simulation options are refused`() throws {
        #expect(try simulate("--replicas", "9").status == 2)
        #expect(try simulate("--rounds").status == 2)
        #expect(try simulate("now").errors.contains("there is no option now"))
        let policy = try simulate("--policy", "lastWins")
        #expect(policy.status == 2 && policy.errors.contains("threeWayMerge"))
    }

    @Test func `the help of both tools says where the simulator is`() throws {
        #expect(try simulate("--help").output.contains("--replicas N"))
        #expect(try room.run("--help").output.contains("settle-simulate"))
    }
}
