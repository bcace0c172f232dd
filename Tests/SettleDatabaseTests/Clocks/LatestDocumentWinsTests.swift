import Settle
import SettleTesting
import Testing

/// SEMANTICS 10
@Suite struct LatestDocumentWinsTests {
    private func withDocument(_ body: (Device, Device) throws -> Void) throws {
        let (john, marie) = (try Device(), try Device())
        try john.set("e", "name", "Holidays", at: Device.noon)
        try john.set("e", "budget", 40)
        try marie.pull(from: john)
        try body(john, marie)
    }

    private func exchange(_ john: Device, _ marie: Device, _ policy: ConflictPolicy = .latestDocumentWins) throws {
        try john.database.pull(from: marie.database)
        try marie.database.pull(from: john.database)
        for device in [john, marie] { try device.database.settleAll(using: policy) }
        for device in [john, marie] {
            try device.database.pull(from: (device === john ? marie : john).database)
        }
        #expect(try john.leaves("e") == marie.leaves("e"))
        #expect(try john.database.conflict(of: "e") == nil)
    }

    // SEMANTICS 10
    @Test func `the document that was changed last is kept whole, whatever its number of revisions`() throws {
        #expect(ConflictPolicy.latestDocumentWins.name == "latestDocumentWins")
        try withDocument { john, marie in
            for number in 1...3 { try john.set("e", "name", .string("John \(number)"), at: Device.noon + 1000) }
            try john.set("e", "place", "Rome", at: Device.noon + 1500)
            try marie.set("e", "budget", 50, at: Device.noon + 2000)
            try exchange(john, marie)
            #expect(try john.clocked("e")?.members == ["name": "Holidays", "budget": 50])
        }
    }

    // SEMANTICS 10
    @Test func `a deletion wins over a later edit unless the policy says otherwise`() throws {
        for (policy, isKept) in [
            (ConflictPolicy.latestDocumentWins, false), (.latestDocumentWins(deletions: .editRevives), true),
            (.latestDocumentWins(deletions: .latestWins), true),
        ] {
            try withDocument { john, marie in
                john.time = Device.noon + 1000
                try john.database.delete("e")
                try marie.set("e", "name", "Marie", at: Device.noon + 2000)
                try john.pull(from: marie, by: policy)
                #expect(try (john.database.document("e") != nil) == isKept)
            }
        }
    }

    @Test func `the winner stays unless every leaf has clocks for all its members`() throws {
        try withDocument { john, marie in
            try john.set("e", "name", "John", at: Device.noon + 1000)
            try marie.set("e", "name", "Marie", at: Device.noon + 2000)
            try marie.editForeign("e") { $0["name"] = "somebody" }
            try john.editForeign("e") { $0["budget"] = 60 }
            try john.database.pull(from: marie.database)
            let winner = try #require(try john.database.document("e"))
            let preview = try #require(try john.database.preview("e", using: .latestDocumentWins))
            #expect(preview.decision?.resolution == winner.revision.map { .keep($0) })
            #expect(preview.decision?.reason.contains("is not known") == true)
        }
    }
}
