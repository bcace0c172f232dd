import Foundation
import Observation
import OtherLibraries
import Settle
import SettleDatabase
import Testing

// Everything here is written without a module's name before it. A name of Settle's that another library has too would be
// ambiguous, and this file would not compile.

private struct Screen: View {
    @State var title = ""
    @Query var rows: [Item]
    var field = TextField()
    var text = Text()
    var list = List()
    var binding = Binding<Int>()
}

private struct Note: Codable, Equatable {
    var title: String
    var year: Int
}

struct NameTests {
    @Test func `an app uses Settle beside other libraries without a module's name before any type`() throws {
        let others: [Any] = [
            Selector("tap"), Attachment<Int>(), HTTPClient(), HTTPRequest(), HTTPResponse(), Store<Int, Int>(),
            Effect<Int>(), JSON.null,
            ValidationError(), Validation(), Credentials(), RetryPolicy(), Collation(), Row(), Column(), Statement(),
            Request(),
            Response(), User(), Item(), Person(), Schema(), Screen(),
        ]
        #expect(others.count == 23)
        let database = try Database.inMemory()
        try database.save(Document(id: "first", encoding: Note(title: "Names", year: 2026)), onConflict: .fail)
        let found = try database.find(DocumentQuery<Note>().where { $0.year > 2000 && $0.title == "Names" })
        #expect(found.values == [Note(title: "Names", year: 2026)])
        let byYear = MapIndex<Int, String>("by year", version: 1) { note, emit in
            if let year = note["year"]?.int { emit(year, note.id.string) }
        }
        #expect(try database.rows(of: byYear).map(\.value) == ["first"])
        #expect(try MangoSelector(["year": 2026]).matches(["year": 2026]))
        let attachment: DocumentAttachment? = try database.document("first")?.attachments.first
        #expect(attachment == nil)
    }

    @Test func `every call that takes an id takes a text, a literal, an id and the id of a model`() async throws {
        let database = try Database.inMemory()
        let text = "milk"
        let id = try DocumentID(validating: text)
        let optional: String? = text
        try await check(text, in: database)
        try await check("milk", in: database)
        try await check(id, in: database)
        try await check(optional, in: database)
        try await check(UUID(), in: database)
        try await check(7, in: database)
        // A literal in its place, which has to be unambiguous.
        try database.save(Document(id: "milk", body: ["n": 1]))
        #expect(try database.document("milk")?.id == id)
        try database.update("milk") { $0["n"] = 2 }
        #expect(try database.tree(of: "milk")?.leaves.count == 1)
        #expect(try database.leaves(of: "milk").count == 1)
        #expect(try database.conflict(of: "milk") == nil)
        var first = database.observe("milk").makeAsyncIterator()
        #expect(try await first.next()??["n"] == 2)
        try database.delete("milk")
        #expect(try database.purge("milk").count == 1)
        #expect(Document(id: "milk") == Document(id: id))
    }

    private func check(_ id: some DocumentIDConvertible, in database: Database) async throws {
        let saved = try database.save(Document(id: id, body: ["n": 1]))
        #expect(try database.document(id) == saved)
        #expect(try database.document(id, revision: #require(saved.revision)) == saved)
        try database.update(id) { $0["n"] = 2 }
        try database.updateIfNeeded(id) { _ in false }
        try database.updateOrCreate(id) { $0["n"] = 3 }
        #expect(try database.tree(of: id)?.winner?.revision.generation == 3)
        #expect(try database.leaves(of: id).first?["n"] == 3)
        #expect(try database.conflict(of: id) == nil)
        #expect(try database.preview(id, using: .keepAll) == nil)
        try database.settle(id, using: .keepAll)
        try await database.settle(id, asking: .keepAll)
        try database.setExpiration(of: id, at: .distantFuture)
        #expect(try database.expiration(of: id) != nil)
        var observation = database.observe(id).makeAsyncIterator()
        #expect(try await observation.next()??["n"] == 3)
        try database.delete(id)
        #expect(try database.purge(id).count == 1)
        #expect(try database.purge(id, revisions: []).isEmpty)
    }
}
