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

    /// Text in the code, and the maximum number of files that have it. Simulated fleets are models of other clients.
    @Test(arguments: [(#"{\"_id\":"#, 1), (#""_revisions""#, 1), (#""_attachments""#, 5)])
    func `few files spell the members of a document's JSON`(text: String, most: Int) {
        let places = Repository.shared.sources.filter { file in
            file.target != "SettleFleet" && file.path.hasSuffix(".swift")
                && file.lines.contains { $0.contains(text) && !$0.drop { $0 == " " }.hasPrefix("//") }
        }
        #expect(places.count <= most, "\(places.map(\.path))")
    }
}
