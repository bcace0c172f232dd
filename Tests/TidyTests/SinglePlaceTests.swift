import Testing

/// Ideas that are built once: what is called in one file and in no other.
struct SinglePlaceTests {
    /// The files of the sources that have some text in their code, apart from declarations, and which file it should be.
    @Test(arguments: [
        ("SettlementPlan(", "Sources/SettleDatabase/Conflicts/SettlementRun.swift"),
        ("conflictedDocumentIDs(", "Sources/SettleDatabase/Conflicts/ConflictSweep.swift"),
    ])
    func `a call is in one file`(call: String, place: String) {
        // Test doubles and simulated fleets use a database as an app does.
        let sources = Repository.shared.sources.filter { !["SettleTesting", "SettleFleet"].contains($0.target) }
        let places = sources.filter { file in
            file.code.contains { line in
                line.contains(call) && !line.contains("func \(call)") && !file.path.hasSuffix("Database+Read.swift")
            }
        }
        #expect(places.map(\.path) == [place])
    }

    @Test func `the client of the tool knows no database`() {
        let tool = Repository.shared.sources.filter { $0.target == "SettleCommands" }
        let asking = tool.flatMap { file in
            file.code.filter { $0.contains("client.database") || $0.contains("isRemote") }
        }
        #expect(asking.count <= 1, "\(asking)")
        let client = tool.filter { $0.path.hasSuffix("Client/Client.swift") }
        #expect(client.count == 1 && !client.contains { $0.code.contains { $0.contains(/\bDatabase\b/) } })
    }
}
