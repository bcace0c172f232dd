import Settle
import SettleTesting
import Testing

/// The race of reference 003: two devices and a server, both offline, one name (SEMANTICS 160–165).
@Suite struct JohnAndMarieTests {
    /// The steps once both are online again.
    enum Step: CaseIterable {
        case johnUp, johnDown, marieUp, marieDown
    }

    /// All orders of the steps.
    static let orders: [[Step]] = {
        func orders(_ steps: [Step]) -> [[Step]] {
            steps.isEmpty ? [[]] : steps.flatMap { step in orders(steps.filter { $0 != step }).map { [step] + $0 } }
        }
        return orders(Step.allCases)
    }()

    /// Both devices and the server after both have changed the name: John first, and then Marie.
    private struct Ours {
        let server, john, marie: Device

        init(johnAt: Int64 = 1000, marieAt: Int64 = 2000) throws {
            (server, john, marie) = (try Device(), try Device(), try Device())
            try server.set("17bb2c1c", "name", "Holidays", at: Device.noon)
            for device in [john, marie] { try device.pull(from: server) }
            try john.set("17bb2c1c", "name", "Holiday 2015", at: Device.noon + johnAt)
            try marie.set("17bb2c1c", "name", "Family Holidays", at: Device.noon + marieAt)
        }

        func take(_ step: Step) throws {
            switch step {
            case .johnUp: try server.pull(from: john)
            case .johnDown: try john.pull(from: server)
            case .marieUp: try server.pull(from: marie)
            case .marieDown: try marie.pull(from: server)
            }
        }

        var names: [JSONValue?] {
            get throws { try [server, john, marie].map { try $0.database.document("17bb2c1c")?["name"] } }
        }
    }

    /// A client that queues its changes for the server and writes downloads unchanged, and a server that resolves by
    /// time and sends each device what the others changed.
    private struct Naive {
        private struct Row {
            var name = "Holidays"
            var time = 0
            var changedBy = ""
        }

        private var server = Row()
        private var names = ["john": "Holiday 2015", "marie": "Family Holidays"]
        private var pending = ["john": ("Holiday 2015", 1), "marie": ("Family Holidays", 2)]
        private var seen = ["john": 0, "marie": 0]

        mutating func take(_ step: Step) {
            switch step {
            case .johnUp: upload("john")
            case .johnDown: download("john")
            case .marieUp: upload("marie")
            case .marieDown: download("marie")
            }
        }

        private mutating func upload(_ device: String) {
            guard let (name, time) = pending.removeValue(forKey: device), time > server.time else { return }
            server = Row(name: name, time: time, changedBy: device)
        }

        private mutating func download(_ device: String) {
            guard server.changedBy != device, server.time > seen[device] ?? 0 else { return }
            names[device] = server.name
            seen[device] = server.time
        }

        var all: [String] { [server.name, names["john"] ?? "", names["marie"] ?? ""] }
    }

    // SEMANTICS 147, 160, 163
    @Test func `in every order all three end with Marie's name, where the naive client does not`() throws {
        #expect(Self.orders.count == 24)
        let marieFirstDown: [Step] = [.johnUp, .marieDown, .marieUp, .johnDown]
        var failures: [[Step]] = []
        for order in Self.orders {
            let ours = try Ours()
            var naive = Naive()
            // After the four steps in this order, all sync once more, up and down.
            for step in order + [.johnUp, .marieUp, .johnDown, .marieDown] {
                try ours.take(step)
                naive.take(step)
            }
            #expect(try ours.names == ["Family Holidays", "Family Holidays", "Family Holidays"], "\(order)")
            let leaves = try [ours.server, ours.john, ours.marie].map { try $0.leaves("17bb2c1c") }
            #expect(leaves.allSatisfy { $0 == leaves[0] }, "\(order)")
            if naive.all != ["Family Holidays", "Family Holidays", "Family Holidays"] { failures.append(order) }
            if order == marieFirstDown { #expect(naive.all == ["Family Holidays", "Family Holidays", "Holiday 2015"]) }
        }
        #expect(failures.contains(marieFirstDown) && failures.count < 24)
    }

    // SEMANTICS 160, 161
    @Test func `a download does not overwrite a newer pending change`() throws {
        let ours = try Ours()
        try ours.take(.johnUp)
        try ours.take(.marieDown)
        #expect(try ours.names == ["Holiday 2015", "Holiday 2015", "Family Holidays"])
        try ours.take(.marieUp)
        try ours.take(.johnDown)
        #expect(try ours.names == ["Family Holidays", "Family Holidays", "Family Holidays"])
    }

    // SEMANTICS 162
    @Test func `other members of the same download are applied`() throws {
        let ours = try Ours()
        try ours.john.set("17bb2c1c", "budget", "50.00", at: Device.noon + 1500)
        try ours.take(.johnUp)
        try ours.take(.marieDown)
        let document = try #require(try ours.marie.database.document("17bb2c1c"))
        #expect(document["name"] == "Family Holidays" && document["budget"] == "50.00")
    }

    // SEMANTICS 164
    @Test func `an older pending change is dropped for the server's newer one`() throws {
        let ours = try Ours(johnAt: 3000, marieAt: 2000)
        try ours.take(.johnUp)
        try ours.take(.marieDown)
        #expect(try ours.names == ["Holiday 2015", "Holiday 2015", "Holiday 2015"])
        try ours.take(.marieUp)
        try ours.take(.johnDown)
        #expect(try ours.names == ["Holiday 2015", "Holiday 2015", "Holiday 2015"])
    }

    // SEMANTICS 164
    @Test func `an older change uploaded without a download does not win on the server`() throws {
        for order in Self.orders {
            let ours = try Ours(johnAt: 3000, marieAt: 2000)
            for step in order + [.johnUp, .marieUp, .johnDown, .marieDown] { try ours.take(step) }
            #expect(try ours.names == ["Holiday 2015", "Holiday 2015", "Holiday 2015"], "\(order)")
        }
    }

    // SEMANTICS 165
    @Test(arguments: [(1000, 2000, "Family Holidays"), (3000, 2000, "Holiday 2015")] as [(Int64, Int64, JSONValue)])
    func `a download that arrives during an upload changes nothing in the outcome`(
        johnAt: Int64, marieAt: Int64, winner: JSONValue
    ) throws {
        let ours = try Ours(johnAt: johnAt, marieAt: marieAt)
        try ours.take(.johnUp)
        // Marie's upload is in transit while John's change is downloaded, and arrives after she has settled.
        let onItsWay = try Device()
        try onItsWay.database.pull(from: ours.marie.database)
        try ours.take(.marieDown)
        try ours.server.pull(from: onItsWay)
        for step in [.marieDown, .marieUp, .johnDown] as [Step] { try ours.take(step) }
        #expect(try ours.names == [winner, winner, winner])
    }
}
