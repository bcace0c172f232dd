import Foundation
import PostgresTesting
import Settle
import Testing

/// A model that was read knows its id, its revision and what it was read as, and a save is an edit of exactly that.
struct SavedTests {
    struct Address: Codable, Equatable { var city: String }
    struct Line: Codable, Equatable { var product: String }
    struct Order: Codable, Identifiable, Equatable {
        var id: String?
        var name: String
        var placed: Date?
        var address: Address?
        var lines: [Line]?
        var count: Int?
    }

    struct Item: Codable, Equatable {
        var id: Int
        var amount: Int
    }
    struct Cart: Codable, Identifiable {
        var id: String
        var items: [Item]
    }

    /// As an app of a later version, `curl` or another language has written it.
    private static let foreign = """
        {"name":"x","placed":"2026-01-01T00:00:00Z","address":{"city":"Prague","zip":"110 00"},\
        "lines":[{"product":"Milk","note":"cold"}],"count":1e2}
        """

    private let database: Database
    init() throws { database = try Database.plain() }

    private func stored(_ id: DocumentID) throws -> String? { try database.document(id)?.body().description }

    @Test func `every way to read a model gives its id`() async throws {
        let id = try database.save(Document(body: DocumentBody(parsing: Self.foreign))).id
        #expect(try database.document(id, as: Order.self)?.value.id == id.string)
        let query = DocumentQuery<Order>().where { $0.name == "x" }
        #expect(try await database.find(query).first?.value.id == id.string)
        var pages: [String?] = []
        for try await page in database.pages(of: query) { pages += page.map(\.value.id) }
        #expect(pages == [id.string])
        for try await result in database.observe(query) {
            #expect(result.values.map(\.id) == [id.string])
            break
        }
        try database.update(id, as: Order.self) { #expect($0.id == id.string) }
        #expect(try database.document(id)?.decode(Order.self).id == id.string)
    }

    @Test func `read, change, save is an edit of the same document, and stores no second id`() throws {
        try database.save(Order(name: "Milk"))
        var order = try #require(try database.find(DocumentQuery<Order>()).first)
        order.name = "Oat milk"
        try database.save(&order)
        #expect(try database.info().documents.live == 1)
        #expect(try stored(order.id) == #"{"name":"Oat milk"}"#)
        order.value.id = "other"
        let error = #expect(throws: DatabaseError.self) { try database.save(&order) }
        #expect(error?.code == .invalid)
    }

    @Test func `a document that an earlier version saved with a member id is read by its own id, and keeps the member`()
        throws
    {
        try database.save(Document(id: "a", body: ["id": "a", "name": "Milk"]))
        try database.save(Document(id: "b", body: ["id": "another", "name": "Bread"]))
        #expect(try database.find(DocumentQuery<Order>()).map(\.value.id) == ["a", "b"])
        try database.update("b", as: Order.self) { $0.count = 1 }
        #expect(try stored("b") == #"{"id":"another","name":"Bread","count":1}"#)
    }

    @Test func `an update changes what the closure changes, and not a byte else`() throws {
        let document = try database.save(Document(id: "o", body: DocumentBody(parsing: Self.foreign)))
        let same = try database.update("o", as: Order.self) { $0.placed = $0.placed }
        #expect(same.revision == document.revision)
        try database.update("o", as: Order.self) { $0.name = "y" }
        #expect(try stored("o") == Self.foreign.replacing(#""x""#, with: #""y""#))
        try database.update("o", as: Order.self) { order in
            order.address?.city = "Brno"
            order.lines?.append(Line(product: "Bread"))
            order.lines?[0].product = "Oat milk"
        }
        #expect(
            try stored("o") == """
                {"name":"y","placed":"2026-01-01T00:00:00Z","address":{"city":"Brno","zip":"110 00"},\
                "lines":[{"product":"Oat milk","note":"cold"},{"product":"Bread"}],"count":1e2}
                """)
    }

    @Test func `two copies of a model are two edits, of which none is lost`() throws {
        try database.save(Document(id: "o", body: DocumentBody(parsing: Self.foreign)))
        var mine = try #require(try database.document("o", as: Order.self))
        var theirs = mine
        theirs.address?.city = "Brno"
        theirs.count = 3
        try database.save(&theirs)
        mine.name = "mine"
        try database.save(&mine)
        #expect(mine.address?.city == "Brno" && mine.count == 3 && mine.name == "mine")
        #expect(try database.document("o")?["address"] == ["city": "Brno", "zip": "110 00"])

        var late = theirs
        late.count = 4
        mine.count = 5
        try database.save(&mine)
        let error = #expect(throws: DatabaseError.self) { try database.save(&late) }
        #expect(error?.code == .conflict)
        let clashes = try #require(error?.cause as? AttributeClashes)
        #expect(
            clashes.attributes.map(\.path) == ["/count"] && clashes.documentID == "o" && clashes.stored == mine.revision
        )
        #expect(
            clashes.attributes.first?.read == 3 && clashes.attributes.first?.stored == 5
                && clashes.attributes.first?.mine == 4)
        #expect(error?.message.contains("/count was 3, is 5, and would be 4") == true)
        #expect(try database.document("o", as: Order.self)?.count == 5)
        try database.save(&late, onConflict: .lastWriteWins)
        #expect(late.count == 4 && late.name == "mine")
    }

    @Test func `elements of lists with an id are merged one by one`() throws {
        try database.save(
            Document(
                id: "c", body: ["items": [["id": 1, "amount": 1, "note": "a"], ["id": 2, "amount": 1, "note": "b"]]]))
        var mine = try #require(try database.document("c", as: Cart.self))
        var theirs = mine
        theirs.items[0].amount = 5
        try database.save(&theirs)
        mine.items.swapAt(0, 1)
        mine.items[0].amount = 7
        mine.items.append(Item(id: 3, amount: 9))
        try database.save(&mine)
        #expect(
            try database.document("c")?["items"] == [
                ["id": 2, "amount": 7, "note": "b"], ["id": 1, "amount": 5, "note": "a"], ["id": 3, "amount": 9],
            ])
    }

    @Test func `a model whose document was deleted is not saved, and a model that was not changed is read again`()
        throws
    {
        var mine = try database.save(Order(id: "o", name: "x"))
        try database.update("o", as: Order.self) { $0.count = 1 }
        try database.save(&mine)
        #expect(mine.count == 1 && mine.revision?.generation == 2)
        try database.delete("o")
        #expect(throws: DatabaseError.self) { try database.save(mine) }
        mine.name = "y"
        let error = #expect(throws: DatabaseError.self) { try database.save(mine) }
        #expect(error?.code == .conflict && error?.message.contains("stored as deleted") == true)
        try database.save(&mine, onConflict: .lastWriteWins)
        #expect(try stored("o") == #"{"name":"y","count":1}"#)
        try database.purge("o")
        #expect(throws: DatabaseError.self) { try database.save(mine) }
    }

    @Test func `a handler is asked about a model whose document was deleted, and may revive it`() throws {
        var mine = try database.save(Order(id: "o", name: "x"))
        try database.delete("o")
        mine.name = "y"
        let error = #expect(throws: DatabaseError.self) {
            try database.save(mine, onConflict: .merge { _, _ in false })
        }
        #expect(error?.code == .conflict)
        #expect(try database.document("o") == nil)
        try database.save(
            &mine,
            onConflict: .merge { new, current in
                if current == nil { new["count"] = 0 }
                return true
            })
        #expect(mine.name == "y" && mine.count == 0)
        #expect(try stored("o") == #"{"name":"y","count":0}"#)
    }

    @Test func `a model whose document was purged is created again only if the last write wins`() throws {
        var mine = try database.save(Order(id: "o", name: "x"))
        try database.purge("o")
        mine.name = "y"
        let error = #expect(throws: DatabaseError.self) { try database.save(mine) }
        #expect(error?.code == .notFound)
        try database.save(&mine, onConflict: .lastWriteWins)
        #expect(mine.name == "y" && mine.revision?.generation == 1)
        #expect(try stored("o") == #"{"name":"y"}"#)
    }

    @Test func `a part of a document can't be saved or deleted as a whole`() throws {
        try database.save(Order(id: "o", name: "x"))
        var part = try #require(try database.find(DocumentQuery<Order>().selecting("name")).first)
        #expect(part.document == nil && part.revision == nil && part.id == "o")
        part.name = "y"
        #expect(throws: DatabaseError.self) { try database.save(part) }
        #expect(throws: DatabaseError.self) { try database.delete(part) }
    }

    @Test func `a model is deleted at the revision that was read`() throws {
        let first = try database.save(Order(id: "o", name: "x"))
        let second = try database.update("o", as: Order.self) { $0.count = 1 }
        #expect(throws: DatabaseError.self) { try database.delete(first) }
        #expect(try database.delete(second)?.isDeleted == true)
        try database.save(Order(id: "p", name: "y"))
        #expect(try database.delete(Order(id: "p", name: ""))?.isDeleted == true)
        for model in [Order(id: "p", name: ""), Order(name: "")] {
            let error = #expect(throws: DatabaseError.self) { try database.delete(model) }
            #expect(error?.code == .notFound)
        }
    }

    @Test func `many models are saved in one transaction, each with its outcome`() throws {
        try database.save(Order(id: "b", name: "old"))
        let outcomes = try database.saveAll([Order(id: "a", name: "1"), Order(id: "b", name: "2"), Order(name: "3")])
        #expect(outcomes.map { (try? $0.get())?.name } == ["1", nil, "3"])
        #expect(try database.info().documents.live == 3)
        #expect(try database.document("b", as: Order.self)?.name == "old")
        var saved = try outcomes.filter { (try? $0.get()) != nil }.map { try $0.get() }
        try database.update("a", as: Order.self) { $0.name = "theirs" }
        for place in saved.indices { saved[place].name = "mine" }
        let again = try database.saveAll(saved)
        #expect(again.map { (try? $0.get())?.name } == [nil, "mine"])
        #expect(try database.document("a", as: Order.self)?.name == "theirs")
    }

    @Test func `a model that is a class, or holds one, is saved as it was changed in place`() throws {
        final class Note: Codable, Identifiable {
            let id: String?
            var title: String
            init(title: String) { (id, self.title) = (nil, title) }
        }
        struct Holder: Codable, Identifiable {
            var id: String?
            var note: Note
        }
        let note = try database.save(Note(title: "a"))
        let read = try #require(try database.document(note.id, as: Note.self))
        read.value.title = "b"
        try database.save(read)
        #expect(try stored(note.id) == #"{"title":"b"}"#)
        let holder = try database.save(Holder(note: Note(title: "a")))
        holder.note.title = "b"
        try database.save(holder)
        #expect(try database.document(holder.id)?["note"]?["title"] == "b")
        try database.update(holder.id, as: Holder.self) { $0.note.title = "c" }
        #expect(try database.document(holder.id)?["note"]?["title"] == "c")
    }

    @Test func `a model of a transaction that was rolled back is not merged with what is stored`() throws {
        var order = try database.save(Order(id: "o", name: "x", count: 1))
        #expect(throws: CancellationError.self) {
            try database.transaction {
                order.count = 5
                try database.save(&order)
                throw CancellationError()
            }
        }
        for count in [5, 6] {
            order.count = count
            let error = #expect(throws: DatabaseError.self) { try database.save(&order) }
            #expect(error?.code == .conflict)
        }
        #expect(try stored("o") == #"{"name":"x","count":1}"#)
        var new = order
        _ = try? database.transaction {
            new = try database.save(Order(id: "n", name: "n"))
            throw CancellationError()
        }
        let gone = #expect(throws: DatabaseError.self) { try database.save(new) }
        #expect(gone?.code == .notFound && gone?.message.contains("rolled back") == true)
    }

    @Test func `an element that one writer removed and the other changed is a clash`() throws {
        for isRemovedHere in [true, false] {
            try database.save(
                Cart(id: "c", items: [Item(id: 1, amount: 1), Item(id: 2, amount: 1)]), onConflict: .lastWriteWins)
            var mine = try #require(try database.document("c", as: Cart.self))
            var theirs = mine
            if isRemovedHere { theirs.items[0].amount = 9 } else { theirs.items.removeFirst() }
            try database.save(&theirs)
            if isRemovedHere { mine.items.removeFirst() } else { mine.items[0].amount = 9 }
            let error = #expect(throws: DatabaseError.self) { try database.save(mine) }
            #expect((error?.cause as? AttributeClashes)?.attributes.map(\.path) == ["/items"])
            let wanted = mine.items
            try database.save(&mine, onConflict: .lastWriteWins)
            #expect(mine.items == wanted)
            #expect(try database.document("c", as: Cart.self)?.items == wanted)
        }
    }

    @Test func `two cases of one enumeration are a clash, and what is no such model is not overwritten`() throws {
        enum Shape: Codable, Equatable {
            case circle(radius: Double)
            case square(side: Double)
            case none
        }
        struct Figure: Codable, Identifiable {
            var id: String
            var shape: Shape?
            var count = 0
        }
        for first in [Shape.circle(radius: 1), nil] {
            try database.save(Figure(id: "f", shape: first), onConflict: .lastWriteWins)
            var mine = try #require(try database.document("f", as: Figure.self))
            var theirs = mine
            theirs.shape = .square(side: 2)
            try database.save(&theirs)
            mine.shape = Shape.none
            let error = #expect(throws: DatabaseError.self) { try database.save(mine) }
            #expect((error?.cause as? AttributeClashes)?.attributes.map(\.path) == ["/shape"])
            try database.save(&mine, onConflict: .lastWriteWins)
            #expect(try database.document("f", as: Figure.self)?.shape == Shape.none)
            try database.delete("f")
        }
        var mine = try database.save(Figure(id: "g"))
        try database.update("g") { $0["count"] = "many" }
        mine.shape = .circle(radius: 1)
        #expect(throws: DecodingError.self) { try database.save(&mine) }
        #expect(try database.document("g")?["count"] == "many" && mine.revision?.generation == 1)
    }

    @Test
    func
        `a handler is asked only where both changed the same member, and elements are known by the model's own member`()
        throws
    {
        struct Item: Codable, Equatable {
            var sku: String
            var amount: Int
        }
        struct Cart: DocumentModel, Identifiable {
            var id: String
            var items: [Item]
            var note = ""
            static let elementIdentities = ["sku"]
        }
        try database.save(Cart(id: "c", items: [Item(sku: "a", amount: 1), Item(sku: "b", amount: 1)]))
        var mine = try #require(try database.document("c", as: Cart.self))
        var theirs = mine
        (theirs.items[0].amount, theirs.note) = (5, "theirs")
        try database.save(&theirs)
        mine.items[1].amount = 7
        try database.save(&mine, onConflict: .merge { _, _ in false })
        #expect(mine.items.map(\.amount) == [5, 7] && mine.note == "theirs")
        theirs.note = "again"
        mine.note = "mine"
        try database.save(&mine)
        #expect(throws: DatabaseError.self) { try database.save(theirs, onConflict: .merge { _, _ in false }) }
    }

    @Test func `an id that was not touched is no change, in whatever form the document has it`() throws {
        struct Unique: Codable, Identifiable {
            var id: UUID
            var name: String
        }
        struct Fresh: Codable, Identifiable {
            var id = UUID()
            var name: String
            enum CodingKeys: String, CodingKey { case name }
        }
        struct Computed: Codable, Identifiable {
            var id: String { code }
            var code: String
        }
        let id = "e621e1f8-c36c-495a-93fc-0c247a3e6e5f"
        try database.save(Document(id: DocumentID(validating: id), body: ["name": "a"]))
        try database.update(id, as: Unique.self) { $0.name = "b" }
        try database.update(id, as: Fresh.self) { $0.name += "c" }
        #expect(try database.document(id)?.json == ["name": "bc"])
        var computed = try database.save(Computed(code: "A1"))
        #expect(computed.id == "A1")
        computed.code = "B2"
        let error = #expect(throws: DatabaseError.self) { try database.save(&computed) }
        #expect(error?.code == .invalid)
    }

    @Test func `an update inside an update of the same document ends with a conflict`() throws {
        try database.save(Order(id: "o", name: "x", count: 0))
        let error = #expect(throws: DatabaseError.self) {
            try database.update("o", as: Order.self) { outer in
                try database.update("o", as: Order.self) { $0.count = ($0.count ?? 0) + 1 }
                outer.name += "!"
            }
        }
        #expect(error?.code == .conflict)
        #expect(try database.document("o")?["name"] == "x")
    }

    @Test func `elements keep what the model does not know when they move, change and are left out`() throws {
        struct Row: Codable, Equatable {
            var id: String?
            var title: String
        }
        struct Lines: Codable, Identifiable {
            var id: String
            var items: [Row]
        }
        try database.save(
            Document(
                id: "l",
                body: [
                    "items": [
                        ["id": "1", "title": "a", "u": 1], ["id": "2", "title": "b", "u": 2], ["title": "c", "u": 3],
                    ]
                ]))
        try database.update("l", as: Lines.self) { lines in
            lines.items.swapAt(0, 1)
            (lines.items[0].title, lines.items[1].title) = ("B", "A")
            lines.items.insert(Row(title: "new"), at: 0)
        }
        #expect(
            try database.document("l")?["items"] == [
                ["title": "new"], ["id": "2", "title": "B", "u": 2], ["id": "1", "title": "A", "u": 1],
                ["title": "c", "u": 3],
            ])

        struct Readable: Codable {
            var rows: [Row]
            init(from decoder: any Decoder) throws {
                var container = try decoder.unkeyedContainer()
                rows = []
                while !container.isAtEnd {
                    if let row = try? container.decode(Row.self) {
                        rows.append(row)
                    } else {
                        _ = try container.decode(JSONValue.self)
                    }
                }
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.unkeyedContainer()
                for row in rows { try container.encode(row) }
            }
        }
        struct Some: Codable, Identifiable {
            var id: String
            var items: Readable
        }
        try database.save(
            Document(
                id: "s",
                body: ["items": [["id": "1", "title": "a", "u": 1], ["id": "2"], ["id": "3", "title": "c", "u": 3]]]))
        try database.update("s", as: Some.self) { $0.items.rows[0].title = "A" }
        #expect(
            try database.document("s")?["items"] == [
                ["id": "1", "title": "A", "u": 1], ["id": "2"], ["id": "3", "title": "c", "u": 3],
            ])

        let many = (0..<900).map { JSONValue.object(["title": .string("t\($0)"), "u": .number(JSONNumber($0))]) }
        try database.save(Document(id: "m", body: ["items": .array(many)]))
        try database.update("m", as: Lines.self) { lines in
            lines.items.removeFirst()
            lines.items.reverse()
        }
        let kept = try #require(try database.document("m")?["items"]?.array)
        #expect(kept == Array(many.dropFirst().reversed()))
    }

    @Test func `sets and tables have the same bytes in every process`() throws {
        enum Size: String, Codable { case small, large, huge }
        struct Shelf: Codable, Equatable {
            var tags: Set<String>
            var counts: [Size: Int]
            var numbers: Set<Double>
        }
        let shelf = Shelf(
            tags: ["b", "a", "é", "B"], counts: [.small: 1, .large: 2, .huge: 3], numbers: [10, 9.5, -1])
        let json = try JSONValue(encoding: shelf)
        #expect(
            json.description
                == #"{"tags":["a","b","B","é"],"counts":["huge",3,"large",2,"small",1],"numbers":[-1.0,9.5,10.0]}"#)
        #expect(try json.decode(Shelf.self) == shelf)
    }

    @Test func `an error of decoding names the document and the model`() throws {
        try database.save(Document(id: "o", body: ["name": 7]))
        let error = #expect(throws: DecodingError.self) { try database.document("o", as: Order.self) }
        #expect("\(error as Any)".contains("\"o\" as Order: expected a string, found a number"))
        let misfit = try #require(try database.find(DocumentQuery<Order>()).misfits.first)
        #expect(misfit.description == "\"o\" as Order: expected a string, found a number (at name)")
    }
}
