import Foundation
import PostgresTesting
import Settle
import SettleCore
import SettleTesting
import Testing

@Suite struct AttributeClockSavingTests {
    @Test func `each save stamps the members that it changes`() throws {
        let device = try Device()
        try device.set("e", "name", "Holidays", at: Device.noon)
        try device.set("e", "budget", 50, at: Device.noon + 1000)
        #expect(try device.moment("e", "name")?.milliseconds == Device.noon)
        #expect(try device.moment("e", "budget")?.milliseconds == Device.noon + 1000)
        try device.set("e", "name", nil, at: Device.noon + 2000)
        #expect(try device.moment("e", "name")?.milliseconds == Device.noon + 2000)
        #expect(try device.clocked("e")?.members == ["budget": 50])
    }

    @Test func `without the option documents are stored unchanged`() throws {
        let device = try Device(hasClocks: nil)
        try device.set("e", "name", "Holidays")
        #expect(try device.database.document("e")?.json == ["name": "Holidays"])
        #expect(try !device.database.attributeClocks())
    }

    @Test func `the database remembers that it stamps changes`() throws {
        do {
            let folder = try TemporaryFolder()
            var options = DatabaseOptions()
            options.attributeClocks = true
            let path = folder("a.settle")
            try Database.create(path, options: options).close()
            let database = try Database.open(path)
            #expect(try database.attributeClocks())
            try database.setAttributeClocks(false)
            #expect(try !database.attributeClocks())
            try database.save(Document(id: "x", body: ["a": 1]), onConflict: .fail)
            #expect(try database.document("x")?.json == ["a": 1])
            database.close()
            let again = try Database.open(path)
            #expect(try !again.attributeClocks())
            again.close()
        }
    }

    @Test func `enabling it in a transaction that fails leaves it off`() throws {
        struct Stop: Error {}
        try withTemporaryDatabase(.plain) { database in
            #expect(throws: Stop.self) {
                try database.transaction {
                    try database.setAttributeClocks(true)
                    throw Stop()
                }
            }
            try database.save(Document(id: "x", body: ["a": 1]), onConflict: .fail)
            #expect(try database.document("x")?.json == ["a": 1])
        }
    }

    @Test func `every way of saving stamps, also documents that an app made without their clocks`() throws {
        let device = try Device()
        let database = device.database
        try database.saveAll([Document(id: "a", body: ["x": 1]), Document(id: "b", body: ["x": 1])], onConflict: .fail)
        #expect(try device.moment("a", "x") != nil && device.moment("b", "x") != nil)
        let first = try device.moment("a", "x")
        try database.save(Document(id: "a", body: ["x": 1, "y": 2]), onConflict: .lastWriteWins)
        #expect(try device.moment("a", "x") == first && device.moment("a", "y") != nil)
        let merged = SaveConflict.merge { new, current in
            new["z"] = current?["x"]
            return true
        }
        try database.save(Document(id: "a", body: ["y": 3]), onConflict: merged)
        #expect(try device.moment("a", "z") != nil && device.clocked("a")?.members == ["y": 3, "z": 1])
        try database.save(Document(id: "_design/d", body: ["language": "query"]), onConflict: .fail)
        #expect(try database.document("_design/d")?.json == ["language": "query"])
    }

    // SEMANTICS 159
    @Test(arguments: Kinds.all)
    func `a wall clock put back by a day does not make a later edit the older one`(kind: DatabaseKind) throws {
        let device = try Device(kind)
        var last: AttributeClock?
        for (step, time) in [0, 500, -Device.day, -Device.day + 1, 0, 700, -2 * Device.day].enumerated() {
            if step % 2 == 1 { try device.reopen() }
            let id = try DocumentID(validating: "e\(step)")
            try device.set(id, "v", .number(JSONNumber(step)), at: Device.noon + time)
            let moment = try #require(try device.moment(id, "v"))
            #expect(last.map { $0 < moment } ?? true, "step \(step)")
            last = moment
        }
    }

    // SEMANTICS 159
    @Test func `reopening after a pause keeps the wall clock, and one put back costs at most a second`() throws {
        let device = try Device(.file)
        try device.set("a", "v", 1, at: Device.noon)
        try device.reopen()
        try device.set("b", "v", 1, at: Device.noon + 5000)
        #expect(try device.moment("b", "v")?.milliseconds == Device.noon + 5000)
        try device.reopen()
        try device.set("c", "v", 1, at: Device.noon)
        #expect(try device.moment("c", "v")?.milliseconds == Device.noon + 6000)
    }

    // SEMANTICS 159
    @Test func `a server's time limits a device far ahead, and its earlier stamps yield to later edits`() throws {
        let device = try Device()
        try device.set("e", "name", "far", at: Device.noon + 400 * Device.day)
        device.database.observeServerTime(Date(milliseconds: Device.noon))
        try device.set("e", "budget", 1)
        let moment = try #require(try device.moment("e", "budget"))
        #expect(moment.milliseconds - Device.noon < HybridClock.tolerance)
        let before = try #require(try device.moment("e", "name"))
        try device.set("e", "name", "near")
        #expect(try #require(try device.moment("e", "name")) > before)
    }

    @Test func `the clock learns from revisions that arrive, but not from one far ahead`() throws {
        let (fast, slow) = (try Device(), try Device())
        try fast.set("e", "name", "a", at: Device.noon + 50_000)
        slow.time = Device.noon
        try slow.pull(from: fast)
        try slow.set("other", "v", 1)
        #expect(try #require(try slow.moment("other", "v")) > #require(try fast.moment("e", "name")))
        try fast.set("f", "name", "a", at: Device.noon + Device.day)
        try slow.pull(from: fast)
        try slow.set("third", "v", 1)
        #expect(try #require(try slow.moment("third", "v")).milliseconds < Device.noon + 60_000)
    }

    @Test func `a foreign edit is detected at the next save`() throws {
        let device = try Device()
        try device.set("e", "a", 1)
        try device.set("e", "b", 1)
        try device.editForeign("e") { $0["a"] = 2 }
        #expect(try device.moment("e", "a") == nil && device.moment("e", "b") != nil)
        try device.set("e", "c", 1)
        #expect(try device.moment("e", "a") == nil && device.moment("e", "b") != nil && device.moment("e", "c") != nil)
        try device.set("e", "a", 3)
        #expect(try device.moment("e", "a") != nil)
    }

    @Test func `a deletion carries its clock, and a revival gets a later one`() throws {
        let device = try Device()
        try device.set("e", "a", 1, at: Device.noon)
        let deleted = try device.database.delete("e", keeping: ["a"])
        let tombstone = ClockedDocument(try #require(deleted?.json.object), isDeleted: true)
        let deletion = try #require(tombstone.deletion)
        #expect(deletion.milliseconds == Device.noon && deleted?["a"] == 1)
        try device.set("e", "b", 1, at: Device.noon - Device.day)
        #expect(try #require(try device.moment("e", "b")) > deletion)
    }

    @Test(arguments: Kinds.all)
    func `a refused save does not fail the transaction around it, also if it is the first one in a second`(
        kind: DatabaseKind
    ) throws {
        let device = try Device(kind)
        let database = device.database
        try device.set("taken", "v", 1, at: Device.noon)
        device.time = Device.noon + 5000
        try database.transaction {
            #expect(code { try database.add("taken") } == .conflict)
            try database.add("a")
        }
        database.addValidation("no x") { context in
            if context.newRevision["x"] != nil { throw DocumentRejection() }
        }
        device.time = Device.noon + 10_000
        try database.transaction {
            #expect(code { try database.add("b", ["x": 1]) } == .refused)
            try database.add("c")
        }
        #expect(try database.documents().map(\.id) == ["a", "c", "taken"])
        #expect(try device.moment("a", "v")?.milliseconds == Device.noon + 5000)
        #expect(try device.moment("c", "v")?.milliseconds == Device.noon + 10_000)
    }

    @Test func `a document that its clocks make too large is refused`() throws {
        var options = DatabaseOptions.quiet
        options.attributeClocks = true
        options.maximumDocumentSize = 60
        try withTemporaryDatabase(.plain, options: options) { database in
            let document = Document(id: "x", body: ["member": 1])
            #expect(code { try database.save(document, onConflict: .fail) } == .documentTooLarge)
        }
    }
}
