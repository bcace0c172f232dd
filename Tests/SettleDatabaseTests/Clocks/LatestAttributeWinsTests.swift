import Settle
import SettleTesting
import Testing

@Suite struct LatestAttributeWinsTests {
    private func withDocument(_ body: (Device, Device) throws -> Void) throws {
        let (john, marie) = (try Device(), try Device())
        try john.set("e", "name", "Holidays", at: Device.noon)
        try john.set("e", "budget", 40)
        try marie.pull(from: john)
        try body(john, marie)
    }

    // SEMANTICS 157, K10, K11
    @Test func `the later change of a member wins on both sides, in the same revision`() throws {
        try withDocument { john, marie in
            try john.set("e", "name", "Holiday 2015", at: Device.noon + 1000)
            try marie.set("e", "name", "Family Holidays", at: Device.noon + 2000)
            try john.set("e", "budget", 50, at: Device.noon + 3000)
            try john.database.pull(from: marie.database)
            try marie.database.pull(from: john.database)
            for device in [john, marie] { try device.database.settle("e", using: .latestAttributeWins) }
            #expect(try john.clocked("e")?.members == ["name": "Family Holidays", "budget": 50])
            #expect(try john.leaves("e") == marie.leaves("e"))
            #expect(try john.database.conflict(of: "e") == nil)
        }
    }

    // SEMANTICS 10, K11
    @Test func `the latest change and the most revisions are two policies, with two names and two answers`() throws {
        for (policy, name) in [
            (ConflictPolicy.latestAttributeWins, "latestAttributeWins"), (.mostRevisions, "mostRevisions"),
        ] {
            #expect(policy.name == name)
            try withDocument { john, marie in
                for number in 1...3 { try john.set("e", "name", .string("John \(number)"), at: Device.noon + 1000) }
                try marie.set("e", "name", "Marie", at: Device.noon + 2000)
                try john.pull(from: marie, by: policy)
                #expect(try john.clocked("e")?.members["name"] == (name == "mostRevisions" ? "John 3" : "Marie"))
            }
        }
    }

    // SEMANTICS 10
    @Test func `a later deletion wins only where the policy includes deletions`() throws {
        for (policy, isKept) in [
            (ConflictPolicy.latestAttributeWins(deletions: .latestWins), false), (.latestAttributeWins, true),
        ] {
            try withDocument { john, marie in
                try marie.set("e", "name", "Marie", at: Device.noon + 1000)
                john.time = Device.noon + 2000
                try john.database.delete("e")
                try john.pull(from: marie, by: policy)
                #expect(try (john.database.document("e") != nil) == isKept)
            }
        }
    }

    @Test func `the decision names the revision that changed a member last`() throws {
        try withDocument { john, marie in
            try john.set("e", "name", "Holiday 2015", at: Device.noon + 1000)
            try marie.set("e", "name", "Family Holidays", at: Device.noon + 2000)
            try john.database.pull(from: marie.database)
            let preview = try #require(try john.database.preview("e", using: .latestAttributeWins))
            let member = try #require(preview.decision?.attributes.first { $0.path == "/name" })
            let revision = try #require(try marie.database.document("e")?.revision)
            #expect(member.reason == "\(revision) changed it last" && member.isClash)
            #expect(member.base == "Holidays" && member.result == "Family Holidays")
        }
    }

    @Test func `a foreign edit is merged by the base, and other edits by their clocks`() throws {
        try withDocument { john, marie in
            try marie.set("e", "name", "Family Holidays", at: Device.noon + 2000)
            try john.set("e", "name", "Holiday 2015", at: Device.noon + 1000)
            try john.editForeign("e") { $0["budget"] = 60 }
            try john.pull(from: marie)
            try marie.pull(from: john)
            #expect(try john.clocked("e")?.members == ["name": "Family Holidays", "budget": 60])
            #expect(try john.leaves("e") == marie.leaves("e"))
        }
    }

    @Test func `a replica without the base settles what is fully known, and leaves the rest`() throws {
        try withDocument { john, marie in
            try john.set("e", "name", "Holiday 2015", at: Device.noon + 1000)
            try marie.set("e", "name", "Family Holidays", at: Device.noon + 2000)
            let late = try Device()
            try late.database.pull(from: john.database)
            try late.database.pull(from: marie.database)
            #expect(try late.database.settle("e", using: .threeWayMerge()).outcome == .left)
            #expect(try late.database.settle("e", using: .latestAttributeWins).outcome == .settled)
            #expect(try late.clocked("e")?.members["name"] == "Family Holidays")
            try john.editForeign("e") { $0["budget"] = 60 }
            try marie.set("e", "budget", 70)
            let other = try Device()
            try other.database.pull(from: john.database)
            try other.database.pull(from: marie.database)
            #expect(try other.database.settle("e", using: .latestAttributeWins).outcome == .left)
        }
    }

    @Test func `attachments that one side added are kept`() throws {
        try withDocument { john, marie in
            var document = try #require(try john.database.document("e"))
            document.attach(try john.database.makeAttachment("x", contentType: "text/plain", content: [1]))
            try john.database.save(document, onConflict: .fail)
            try marie.set("e", "name", "Family Holidays", at: Device.noon + 2000)
            try john.pull(from: marie)
            #expect(try john.database.document("e")?.attachments.map(\.name) == ["x"])
            #expect(try john.clocked("e")?.members["name"] == "Family Holidays")
        }
    }

    // SEMANTICS 166
    @Test(arguments: DeletionRule.allCases, [-1, 1])
    func `a deletion against an edit is decided by the named rule`(rule: DeletionRule, later: Int64) throws {
        try withDocument { john, marie in
            john.time = Device.noon + 5000
            try john.database.delete("e")
            try marie.set("e", "name", "Family Holidays", at: Device.noon + 5000 + later * 1000)
            try john.database.pull(from: marie.database)
            try marie.database.pull(from: john.database)
            let policy = ConflictPolicy.latestAttributeWins(deletions: rule)
            for device in [john, marie] { try device.database.settle("e", using: policy) }
            let isThere =
                switch rule {
                case .editRevives: true
                case .deletionWins: false
                case .latestWins: later > 0
                }
            for device in [john, marie] {
                #expect(try device.clocked("e")?.members["name"] == (isThere ? "Family Holidays" : nil))
            }
            #expect(try john.database.document("e")?.revision == marie.database.document("e")?.revision)
        }
    }

    // SEMANTICS 166
    @Test func `an edit wins over a deletion unless another rule is given`() throws {
        try withDocument { john, marie in
            try marie.set("e", "name", "Family Holidays", at: Device.noon + 1000)
            john.time = Device.noon + 2000
            try john.database.delete("e")
            try john.pull(from: marie)
            #expect(try john.clocked("e")?.members["name"] == "Family Holidays")
        }
    }

    @Test func `a deletion without a clock does not win as the latest`() throws {
        try withDocument { john, marie in
            try john.database.setAttributeClocks(false)
            try john.database.delete("e")
            try marie.set("e", "name", "Family Holidays", at: Device.noon - Device.day)
            try john.pull(from: marie, by: .latestAttributeWins(deletions: .latestWins))
            #expect(try john.clocked("e")?.members["name"] == "Family Holidays")
        }
    }

    @Test func `the revision that settling writes adds no clock of its own`() throws {
        try withDocument { john, marie in
            try john.set("e", "name", "Holiday 2015", at: Device.noon + 1000)
            try marie.set("e", "budget", 50, at: Device.noon + 2000)
            try john.database.pull(from: marie.database)
            john.time = Device.noon + 9 * Device.day
            try john.database.settle("e", using: .latestAttributeWins)
            #expect(try john.clocked("e")?.newest?.milliseconds == Device.noon + 2000)
            let closed = try john.database.leaves(of: "e").filter(\.isDeleted)
            #expect(closed.count == 1 && closed.allSatisfy { $0["$clocks"] == nil })
        }
    }
}
