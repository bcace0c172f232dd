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
}
