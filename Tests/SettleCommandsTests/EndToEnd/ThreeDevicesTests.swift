import Foundation
import Settle
import SettleTesting
import Testing

/// Three devices and a server, each a process of its own.
struct ThreeDevicesTests {
    let room: Room
    private let devices = ["a", "b", "c"]

    init() throws { room = try Room() }

    /// Runs the tool for each device concurrently.
    private func atOnce(_ words: (String) -> [String]) throws {
        let processes = try devices.map { device in
            (device, try room.start(words(device), "\(device)-\(UUID().uuidString)"))
        }
        for (device, process) in processes {
            let status = process.waitForEnd()
            #expect(status == 0, "\(words(device))")
        }
    }

    // SEMANTICS 4, 39, 82
    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            [["--policy", "threeWayMerge", "--on-clash", "sum"]],
            [
                ["--policy", "localWins"], ["--policy", "threeWayMerge", "--on-clash", "sum"],
                ["--policy", "mostRevisions"],
            ],
        ])
    func `three devices that settle the same conflicts at once stop writing within two rounds`(
        _ policies: [[String]]
    ) throws {
        let server = try room.start(
            ["serve", "--data", "hub", "--port", "0", "--json"], "serve", ["SETTLE_ADMIN": "admin:secret-word"])
        defer {
            server.terminate()
            server.waitForEnd()
        }
        let address = try room.firstOutput(of: server, "serve")["url"]?.string
        let hub = try #require(address).replacingOccurrences(of: "://", with: "://admin:secret-word@") + "db"
        try room.run("create", "a")
        for id in ["one", "two", "three"] { try room.run("put", "a", id, #"{"n":1,"list":[]}"#) }
        #expect(try room.run("push", "a", hub, "--create").status == 0)
        for device in devices.dropFirst() { #expect(try room.run("pull", device, hub).status == 0) }
        for (index, device) in devices.enumerated() {
            for id in ["one", "two", "three"] {
                let read = try room.run("get", device, id).json
                let revision = try #require(read["_rev"]?.string)
                try room.run("put", device, id, #"{"n":\#(10 * (index + 1)),"by":"\#(device)"}"#, "--rev", revision)
            }
        }
        // All have all branches, and no device has settled anything.
        try atOnce { ["sync", $0, hub] }
        try atOnce { ["sync", $0, hub] }
        #expect(try room.run("conflicts", "c").lines.count >= 3)
        for _ in 0..<2 {
            try atOnce { device in
                let index = devices.firstIndex(of: device) ?? 0
                return ["sync", device, hub] + policies[index % policies.count]
            }
        }
        let leaves = try (devices + [hub]).map { try room.leaves($0) }
        #expect(leaves[1] == leaves[0] && leaves[2] == leaves[0] && leaves[3] == leaves[0])
        #expect(try room.run("conflicts", hub, "--json").output == "")
        // Another round writes nothing.
        for (index, device) in devices.enumerated() {
            let again = try room.run(all: ["sync", device, hub, "--json"] + policies[index % policies.count])
            for side in ["sent", "received"] {
                #expect(again.json[side]?["revisions"] == 0 && again.json[side]?["settled"] == 0)
            }
        }
    }
}
