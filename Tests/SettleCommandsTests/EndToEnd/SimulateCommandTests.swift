import Settle
import Testing

struct SimulateCommandTests {
    let room: Room

    init() throws { room = try Room() }

    @Test func `schedules are tried, and what they were is told`() throws {
        let outcome = try room.run(
            "simulate", "--seed", "3", "--rounds", "5", "--replicas", "2", "--policy", "deletesWin", "--json")
        #expect(outcome.status == 0 && outcome.errors.isEmpty)
        #expect(outcome.json["ok"] == true && outcome.json["schedules"] == 5 && outcome.json["failure"] == .null)
        #expect(outcome.json["steps"]?.int ?? 0 > 0)
        // The same seeds give the same schedules.
        let again = try room.run(
            "simulate", "--seed", "3", "--rounds", "5", "--replicas", "2", "--policy", "deletesWin", "--json")
        #expect(again.output == outcome.output)
        #expect(try room.run("simulate", "--rounds", "2", "--files").output.contains("All rules hold: 2 schedules"))
    }

    @Test func `what can't be simulated is refused`() throws {
        #expect(try room.run("simulate", "--replicas", "9").status == 2)
        let policy = try room.run("simulate", "--policy", "lastWins")
        #expect(policy.status == 2 && policy.errors.contains("threeWayMerge"))
    }
}
