import Foundation
import Settle
import SettleTesting
import Testing

/// Typed conditions find what a filter of Swift finds. The file is also compiled in a module that is isolated to the main actor.
struct TypedConditionTests {
    @Test(arguments: [UInt64](0..<8))
    func `conditions of all kinds find what a filter of Swift finds`(part: UInt64) throws {
        for seed in (part * 40)..<(part * 40 + 40) {
            var random = RandomOrders(seed: seed)
            let database = try Database.inMemory()
            let orders = (0..<8).map { random.order("d\($0)") }
            try database.transaction { for order in orders { try database.save(order) } }
            if random.random.oneIn(2) {
                try database.createIndex(on: \.count, of: Order.self)
                try database.createIndex(on: \.customer?.name, \.name, of: Order.self)
            }
            for _ in 0..<6 {
                let condition = TypedCondition.random(&random)
                let found = try database.find(DocumentQuery<Order>().where { condition.condition($0) })
                let expected = orders.filter { condition.holds($0) }.compactMap(\.id)
                #expect(
                    Set(found.rows.map(\.id.string)) == Set(expected) && found.misfits.isEmpty,
                    "seed \(seed): \(condition.text)")
            }
        }
    }

    @Test(arguments: [UInt64](0..<20))
    func `an order by key paths is that of Swift, with and without an index`(seed: UInt64) throws {
        var random = RandomOrders(seed: seed)
        let database = try Database.inMemory()
        let orders = (0..<12).map { random.order("d\($0 + 10)") }
        for order in orders { try database.save(order) }
        let expected = orders.filter { $0.customer?.age != nil }.sorted {
            ($0.customer?.age ?? 0, $0.placed, $0.id ?? "") < ($1.customer?.age ?? 0, $1.placed, $1.id ?? "")
        }.compactMap(\.id)
        let up = DocumentQuery<Order>().sorted(by: \.customer?.age, \.placed)
        let down = DocumentQuery<Order>().sorted(by: [\.customer?.age, \.placed, \.id], .descending)
        for isIndexed in [false, true] {
            if isIndexed {
                try database.createIndex(on: \.customer?.age, \.placed, of: Order.self)
                try database.createIndex(on: \.customer?.age, \.placed, \.id, of: Order.self)
            }
            #expect(try database.explain(up).sortsInMemory != isIndexed)
            #expect(try database.find(up).rows.map(\.id.string) == expected, "seed \(seed)")
            #expect(try database.find(down).rows.map(\.id.string) == expected.reversed(), "seed \(seed)")
        }
    }

    @Test func `the largest number of elements that is asked for counts like the others`() throws {
        let database = try Database.inMemory()
        var random = RandomOrders(seed: 1)
        var order = random.order("full")
        order.tags = [String](repeating: "a", count: 1000)
        try database.save(order)
        order.id = "less"
        order.tags.removeLast()
        try database.save(order)
        func ids(_ query: DocumentQuery<Order>) throws -> Set<DocumentID> { Set(try database.find(query).map(\.id)) }
        let all = DocumentQuery<Order>()
        #expect(try ids(all.where { $0.tags.count <= 1000 }) == ["full", "less"])
        #expect(try ids(all.where { $0.tags.count < 1000 }) == ["less"])
        #expect(try ids(all.where { $0.tags.count > 1000 }) == [])
        #expect(try ids(all.where { $0.tags.count >= 1000 }) == ["full"])
        #expect(try ids(all.where { $0.tags.count > 999 }) == ["full"])
    }

    private func error(_ query: DocumentQuery<Order>) throws -> QueryError? {
        let database = try Database.inMemory()
        return #expect(throws: QueryError.self) { try database.find(query) }
    }

    @Test func `a property without a known field is an error of the condition that uses it, and runs no code`() throws {
        let all = DocumentQuery<Order>()
        for query in [
            all.where { $0.share == 5 }, all.where { $0.title == "x" }, all.where { $0.name.count == 3 },
            all.where { $0.span.lowerBound == 3 }, all.sorted(by: \.share),
            all.where { $0.lines.contains { $0.product.count == 3 } },
        ] {
            let error = try error(query)
            #expect(error?.code == .unknownField)
            #expect(error?.reason.contains("fieldNames") == true && error?.reason.contains("$0[\"name\"]") == true)
        }
        let unnamed = try error(all.where { $0.share == 5 })
        #expect(unnamed?.reason.contains("a property of Order with a Int") == true, "\(unnamed?.reason ?? "")")
        #expect(throws: QueryError.self) { try Database.inMemory().createIndex(on: \.share, of: Order.self) }
    }

    @Test func `what a selector can't express is an error`() throws {
        let all = DocumentQuery<Order>()
        #expect(try error(all.where { $0.byColor[.red] == 1 })?.code == .unsupportedCondition)
        #expect(try error(all.where { $0.name.lowercased() < "a" })?.code == .unsupportedCondition)
        #expect(try error(all.where { $0.tags.count > 5_000 })?.code == .unsupportedCondition)
    }

    @Test func `a value that is stored as a list is found as one of several values`() throws {
        let database = try Database.inMemory()
        var random = RandomOrders(seed: 1)
        for (id, span) in [("a", 1...5), ("b", 2...5), ("c", 5...5)] {
            var order = random.order(id)
            order.span = span
            try database.save(order)
        }
        let all = DocumentQuery<Order>()
        func ids(_ query: DocumentQuery<Order>) throws -> Set<DocumentID> { Set(try database.find(query).map(\.id)) }
        #expect(try ids(all.where { $0.span.isOne(of: [1...5, 5...5, 1...2]) }) == ["a", "c"])
        #expect(try ids(all.where { $0["span"].isOne(of: [[2, 5], 1]) }) == ["a", "b"])
        #expect(try ids(all.where { $0.span.isOne(of: []) }) == [])
        #expect(try ids(all.where { !$0.span.isOne(of: [1...5]) }) == ["b", "c"])
    }

    @Test func `regardless of case, a field of any type is asked for a text, and an optional one for nil`() throws {
        let database = try Database.inMemory()
        try database.save(Document(id: "list", body: ["name": ["x", "MILK"]]))
        try database.save(Document(id: "null", body: ["name": JSONValue.null]))
        try database.save(Document(id: "other", body: ["name": ["milky", 7]]))
        try database.save(Document(id: "text", body: ["name": "Some Milk"]))
        let milk = DocumentQuery<JSONValue>().where { $0["name"].lowercased().contains("Milk") }
        #expect(try database.find(milk).rows.map(\.id) == ["list", "text"])
        let name = QueryField<String?>("name").lowercased()
        let all = DocumentQuery<JSONValue>()
        #expect(try database.find(all.where { _ in name == nil }).rows.map(\.id) == ["null"])
        #expect(
            try database.find(all.where { _ in name.isOne(of: ["SOME MILK", nil]) }).rows.map(\.id) == ["null", "text"])
    }

    @Test func `a field that is null is as one that is missing`() throws {
        let database = try Database.inMemory()
        var random = RandomOrders(seed: 1)
        var order = random.order("d")
        order.customer = nil
        order.note = nil
        try database.save(order)
        try database.update("d") {
            $0["client"] = JSONValue.null
            $0["note"] = JSONValue.null
        }
        let all = DocumentQuery<Order>()
        #expect(try database.find(all.where { $0.customer == nil && $0.note == nil }).rows.count == 1)
        #expect(
            try database.find(all.where { $0.customer.age == nil && $0.customer.address.zip == nil }).rows.count == 1)
        #expect(try database.find(all.where { $0.customer.name != "x" || $0.note != nil }).rows.isEmpty)
    }
}
