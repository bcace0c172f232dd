import Foundation
import Settle
import SettleTesting
import Testing

/// The ten everyday tasks of docs/COMPARISON.md, with a model that has fields of all kinds. It is also compiled in a module that is
/// isolated to the main actor.
@Suite(.timeLimit(.minutes(5)))
struct EverydayModelTests {
    private let database: Database
    private let order: Order
    init() throws {
        database = try Database.inMemory()
        var random = RandomOrders(seed: 7)
        var order = random.order("o")
        (order.name, order.count, order.done, order.note) = ("Milk", 1, false, "cold")
        (order.lines, order.tags) = ([Order.Line(product: "Milk", amount: 2)], ["b", "a"])
        (order.customer, order.payment) = (Order.Customer(name: "Ada", age: 36), .card(brand: "V", last4: 1234))
        self.order = order
    }

    @Test func `open, save and read give the model back, and its id is no field`() throws {
        let folder = try TemporaryFolder()
        let opened = try Database.openOrCreate(folder.path + "/orders")
        var new = order
        new.id = nil
        let saved = try opened.save(new)
        #expect(saved.value.id == saved.id.string)
        new.id = saved.id.string
        #expect(try opened.document(saved.id, as: Order.self)?.value == new)
        #expect(try opened.document(saved.id)?["id"] == nil)
        opened.close()
    }

    @Test func `each field is changed alone, and all others keep their bytes`() throws {
        let changes: [(name: String, change: @Sendable (inout Order) -> Void)] = [
            ("name", { $0.name = "new" }), ("note", { $0.note = nil }), ("n.r", { $0.count += 100 }),
            ("wide", { $0.wide += 1 }), ("ratio", { $0.ratio += 0.5 }), ("single", { $0.single += 1 }),
            ("price", { $0.price += 1 }), ("done", { $0.done.toggle() }),
            ("placed", { $0.placed += 3600 }), ("due", { $0.due = Date(timeIntervalSince1970: 9e8) }),
            ("link", { $0.link = URL(fileURLWithPath: "/new") }), ("bytes", { $0.bytes.append(7) }),
            ("mark", { $0.mark = UUID() }), ("color", { $0.color = $0.color == .red ? .blue : .red }),
            ("payment", { $0.payment = .cash }), ("client", { $0.customer?.name = "Ben" }),
            ("home", { $0.home.city = "new" }), ("lines", { $0.lines[0].amount = 9 }),
            ("tags", { $0.tags.append("c") }),
            ("names", { $0.names.insert("new") }), ("scores", { $0.scores["new"] = 1 }),
            ("byNumber", { $0.byNumber[77] = "new" }), ("span", { $0.span = -9...99 }), ("title", { $0.title = "new" }),
            ("level", { $0.level = 2 }),
        ]
        for (name, change) in changes {
            try database.save(order, onConflict: .lastWriteWins)
            let before = try #require(try database.document("o")?.json.object)
            var saved = try #require(try database.document("o", as: Order.self))
            change(&saved.value)
            try database.save(&saved)
            let after = try #require(try database.document("o")?.json.object)
            #expect(after[name] != before[name], "\(name)")
            for member in before where member.name != name {
                #expect(after[member.name]?.description == member.value.description, "\(member.name), beside \(name)")
            }
            #expect(try database.document("o", as: Order.self)?.value == saved.value, "\(name)")
        }
    }

    private func ids(_ query: DocumentQuery<Order>) throws -> [DocumentID] { try database.find(query).map(\.id) }

    @Test func `update, typed query, list that follows and batch`() async throws {
        try database.save(order)
        try database.update("o", as: Order.self) { $0.lines[0].note = "fresh" }
        let query = DocumentQuery<Order>().where { $0.lines.contains { $0.note == "fresh" } && $0.customer.age > 30 }
        #expect(try ids(query) == ["o"])
        var lists = database.observe(query).makeAsyncIterator()
        #expect(try await lists.next()?.values.map(\.lines[0].note) == ["fresh"])
        var orders: [Order] = []
        var random = RandomOrders(seed: 8)
        for number in 0..<20 {
            var next = random.order("n\(number)")
            (next.customer, next.lines) = (order.customer, [Order.Line(product: "Milk", amount: 1, note: "fresh")])
            orders.append(next)
        }
        let outcomes = try database.saveAll(orders)
        #expect(outcomes.allSatisfy { (try? $0.get()) != nil })
        #expect(try await lists.next()?.count == 21)
        let other = try #require(try database.document("n3", as: Order.self))
        try database.delete(other)
        #expect(try await lists.next()?.count == 20)
    }

    @Test func `attachment, sync with its status, and a resolver of the app's own`() async throws {
        let peer = try Database.inMemory()
        var mine = try database.save(order)
        try database.update(mine.id) { $0.attach(try database.makeAttachment("photo", content: [1, 2])) }
        try await Replicator(database, with: LocalPeer(peer)) { $0.isContinuous = false }.run()
        var theirs = try #require(try peer.document(mine.id, as: Order.self))
        theirs.count = 50
        try peer.save(&theirs)
        mine.count = 20
        mine.title = "mine"
        try database.save(&mine)
        #expect(mine.document?.attachments.map(\.name) == ["photo"])
        let most = ConflictPolicy.custom("most") { conflict in
            let orders = try conflict.liveLeaves.map { try ($0, $0.decode(Order.self).count) }
            return .document(orders.max { $0.1 < $1.1 }?.0 ?? conflict.winner)
        }
        let replicator = Replicator(database, with: LocalPeer(peer)) { $0.conflictPolicy = most }
        try await replicator.run()
        #expect(replicator.status.error == nil && replicator.status.completed == replicator.status.total)
        #expect(try database.document(mine.id, as: Order.self)?.count == 50)
        #expect(try database.document(mine.id)?.attachments.map(\.name) == ["photo"])
    }
}
