import Foundation
import PostgresTesting
import Settle
import Testing

/// Models are saved, read and updated without a document in between.
struct ModelSavingTests {
    struct Note: Codable, Identifiable, Equatable {
        var id: String?
        var title: String
        var done: Bool?
    }

    /// A model that carries its id and revision as CouchDB names them.
    struct Task: Codable, Identifiable, Equatable {
        var id: DocumentIDText
        var revision: String?
        var title: String
        enum CodingKeys: String, CodingKey {
            case id = "_id"
            case revision = "_rev"
            case title
        }
    }

    /// An app's own type of ids.
    struct DocumentIDText: Codable, Hashable, DocumentIDConvertible, ExpressibleByStringLiteral {
        var text: String
        init(stringLiteral text: String) { self.text = text }
        init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(text)
        }
        var documentID: DocumentID? { get throws { try DocumentID(validating: text) } }
    }

    /// A model with a type and a default value, which can be read from an empty document.
    struct Rating: DocumentModel, Identifiable {
        var id: String
        var stars: Int
        var revision: String?
        static let documentType: DocumentType? = DocumentType("rating")
        enum CodingKeys: String, CodingKey {
            case id, stars
            case revision = "_rev"
        }

        init(id: String, stars: Int) { (self.id, self.stars) = (id, stars) }
        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            id = try container.decode(String.self, forKey: .id)
            stars = try container.decodeIfPresent(Int.self, forKey: .stars) ?? 3
            revision = try container.decodeIfPresent(String.self, forKey: .revision)
        }
    }

    private let database: Database
    init() throws { database = try Database.plain() }

    @Test func `a model without an id gets a new one, and one with an id is that document`() throws {
        let first = try database.save(Note(title: "Milk"))
        let second = try database.save(Note(title: "Bread"))
        #expect(first.id.string.count == 32 && first.id != second.id)
        #expect(first.value.id == first.id.string && first.title == "Milk")
        let named = try database.save(Note(id: "eggs", title: "Eggs"))
        #expect(named.id == "eggs" && named.revision?.generation == 1)
        #expect(try database.document("eggs")?.json == ["title": "Eggs"])
        #expect(try database.document("eggs", as: Note.self)?.value == Note(id: "eggs", title: "Eggs"))
        #expect(try database.document("none", as: Note.self) == nil)
        #expect(throws: InvalidIdentifier.self) { try database.save(Note(id: "_x", title: "")) }
    }

    @Test func `ids are numbers, universally unique ones, ids of documents and an app's own`() throws {
        struct Numbered: Codable, Identifiable { var id: Int }
        struct Unique: Codable, Identifiable { var id = UUID() }
        struct Named: Codable, Identifiable { var id: DocumentID? }
        struct Owned: Codable, Identifiable { var id: DocumentIDText }
        let unique = Unique()
        #expect(try database.save(Numbered(id: 7)).id == "7")
        #expect(try database.save(unique).id.string == unique.id.uuidString)
        #expect(try database.save(Owned(id: "own")).id == "own")
        let made = try database.save(Named())
        #expect(made.value.id == made.id)
        #expect(try database.document("7", as: Numbered.self)?.value.id == 7)
        let text = unique.id.uuidString
        #expect(try database.document(DocumentID(validating: text), as: Unique.self)?.value.id == unique.id)
        #expect(try database.document("own", as: Owned.self)?.value.id == "own")
        #expect(try database.document(made.id, as: Named.self)?.value.id == made.id)
        let error = #expect(throws: DecodingError.self) { try database.document("own", as: Numbered.self) }
        #expect("\(error as Any)".contains("\"own\" can't be an id of the type Int"))
        // None of them is stored as a member.
        #expect(try database.documents().allSatisfy { $0.json == [:] })
    }

    @Test func `a type of ids with a form of its own says how it is read`() throws {
        struct NoteID: Codable, Hashable, DocumentIDConvertible {
            var number: Int
            init(number: Int) { self.number = number }
            var documentID: DocumentID? { get throws { try DocumentID(validating: "note-\(number)") } }
            init(documentID: DocumentID) throws { number = try #require(Int(documentID.string.dropFirst(5))) }
        }
        struct Numbered: Codable, Identifiable {
            var id: NoteID
            var text = ""
        }
        var note = try database.save(Numbered(id: NoteID(number: 5)))
        #expect(note.id == "note-5")
        note.text = "x"
        try database.save(&note)
        #expect(try database.document("note-5", as: Numbered.self)?.value.id.number == 5)
        #expect(try database.document("note-5")?.json == ["text": "x"])
    }

    @Test func `a model may keep its property id as a member`() throws {
        struct Film: DocumentModel, Identifiable {
            var id: Int
            var title: String
            static let idIsDocumentID = false
        }
        try database.save(Document(id: "f", body: ["id": 12, "title": "Solaris"]))
        #expect(try database.document("f", as: Film.self)?.value.id == 12)
        try database.update("f", as: Film.self) { $0.id = 13 }
        #expect(try database.document("f")?["id"] == 13)
    }

    @Test func `a model that keeps its property id as a member is saved and deleted by its key _id alone`() throws {
        struct Film: DocumentModel, Identifiable {
            var id: Int
            var key: String?
            var title: String
            static let idIsDocumentID = false
            enum CodingKeys: String, CodingKey {
                case id, title
                case key = "_id"
            }
        }
        try database.save(Document(id: "12", body: ["title": "another"]))
        let film = try database.save(Film(id: 12, title: "Solaris"))
        #expect(film.id != "12" && film.value.key == film.id.string)
        #expect(film.document?.json == ["id": 12, "title": "Solaris"])
        #expect(code { try database.delete(Film(id: 12, title: "Solaris")) } == .notFound)
        try database.delete(film.value)
        #expect(try database.document(film.id) == nil)
        #expect(try database.document("12")?["title"] == "another")
        #expect(try database.save(Film(id: 12, key: "stalker", title: "Stalker")).id == "stalker")
    }

    @Test func `unique ids differ, and later ones are greater`() {
        let ids = (0..<2000).map { _ in DocumentID.unique() }
        #expect(Set(ids).count == 2000)
        #expect(ids.allSatisfy { $0.string.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) } })
        #expect(ids.map { $0.string.prefix(12) } == ids.map { $0.string.prefix(12) }.sorted())
    }

    @Test func `saving a model keeps attachments and what others have written, and removes what it had`() throws {
        var milk = try database.save(Note(id: "milk", title: "Milk", done: true))
        try database.update("milk") { milk in
            milk["aisle"] = 7
            milk.attach(try database.makeAttachment("photo", content: [1, 2]))
        }
        (milk.title, milk.done) = ("Oat milk", nil)
        try database.save(&milk)
        #expect(milk.document?.json == ["title": "Oat milk", "aisle": 7])
        #expect(milk.document?.attachments.map(\.name) == ["photo"] && milk.revision?.generation == 3)
    }

    @Test func `a plain model is new, and never overwrites or revives a document unless it says so`() throws {
        try database.save(Note(id: "milk", title: "Milk", done: true))
        let stored = try database.update("milk") { $0["aisle"] = 7 }
        let error = #expect(throws: DatabaseError.self) { try database.save(Note(id: "milk", title: "Oat milk")) }
        #expect(error?.code == .conflict && error?.message.contains("onConflict: .lastWriteWins") == true)
        #expect(try database.document("milk") == stored)
        let forced = try database.save(Note(id: "milk", title: "Oat milk"), onConflict: .lastWriteWins)
        #expect(forced.document?.json == ["title": "Oat milk", "aisle": 7])
        try database.delete("milk")
        for conflict in [SaveConflict.fail, .deletesWin] {
            let refused = #expect(throws: DatabaseError.self) {
                try database.save(Note(id: "milk", title: "Soy milk"), onConflict: conflict)
            }
            #expect(refused?.code == .conflict && refused?.message.contains("stored as deleted") == true)
        }
        #expect(try database.document("milk") == nil)
        let revived = try database.save(Note(id: "milk", title: "Soy milk"), onConflict: .lastWriteWins)
        #expect(revived.document?.json == ["title": "Soy milk"] && revived.revision?.generation == 5)
    }

    @Test func `a handler that merges models of a batch is called while others can write`() throws {
        let database = database
        let handler = SaveConflict.merge { new, _ in
            let written = DispatchSemaphore(value: 0)
            DispatchQueue.global().async {
                _ = try? database.updateOrCreate("other") { $0["n"] = 1 }
                written.signal()
            }
            guard written.wait(timeout: .now() + 300) == .success else { return false }
            new["done"] = true
            return true
        }
        try database.save(Note(id: "milk", title: "Milk"))
        let notes = [Note(id: "milk", title: "Oat milk"), Note(id: "eggs", title: "Eggs")]
        let saved = try database.saveAll(notes, onConflict: handler).map { try $0.get() }
        #expect(saved[0].document?.json == ["title": "Oat milk", "done": true])
        #expect(saved[1].document?.json == ["title": "Eggs"])
        var milk = saved[0]
        try database.update("milk") { $0["title"] = "Soy milk" }
        milk.title = "Rice milk"
        let edited = try database.saveAll([milk], onConflict: handler).map { try $0.get() }
        #expect(edited.map(\.value.title) == ["Rice milk"])
    }

    @Test func `a new document gets the type and the default values of its model, whatever wins`() throws {
        let conflicts: [String: SaveConflict] = ["a": .fail, "b": .lastWriteWins, "c": .deletesWin]
        for (id, conflict) in conflicts {
            let saved = try database.save(Rating(id: id, stars: 3), onConflict: conflict)
            #expect(saved.document?.json == ["type": "rating", "stars": 3], "\(id)")
        }
        try database.delete("a")
        let revived = try database.save(Rating(id: "a", stars: 3), onConflict: .lastWriteWins)
        #expect(revived.document?.json == ["type": "rating", "stars": 3])
        for saved in try database.saveAll([Rating(id: "d", stars: 3)], onConflict: .lastWriteWins) {
            #expect(try saved.get().document?.json == ["type": "rating", "stars": 3])
        }
    }

    @Test func `a default value is an edit if what the model was read from is no longer kept`() throws {
        let read = try database.save(Rating(id: "r", stars: 5))
        var mine = try #require(try database.document("r", as: Rating.self)).value
        try database.update("r") { $0["n"] = 1 }
        try database.compact()
        #expect(try database.document("r", revision: #require(read.revision)) == nil)
        mine.stars = 3
        #expect(code { try database.save(mine) } == .conflict)
        try database.save(mine, onConflict: .lastWriteWins)
        #expect(try database.document("r")?["stars"] == 3 && database.document("r")?["n"] == 1)
    }

    @Test func `a document that is no such model keeps all its other fields`() throws {
        try database.save(Document(id: "milk", body: ["title": 5, "done": "no", "size": 1]))
        let saved = try database.save(Note(id: "milk", title: "Milk"), onConflict: .lastWriteWins)
        #expect(saved.document?.json == ["title": "Milk", "done": "no", "size": 1])
    }

    @Test func `a model with a revision is an edit of that revision, and loses no other edit`() throws {
        let created = try database.save(Task(id: "t", title: "Write"))
        #expect(created.document?.json == ["title": "Write"] && created.revision?.generation == 1)
        var mine = try #require(try database.document("t", as: Task.self)).value
        #expect(mine.revision == created.revision?.description && mine.id == "t")
        let theirs = try database.update("t", as: Task.self) { $0.title = "Rewrite" }
        mine.title = "Erase"
        let error = #expect(throws: DatabaseError.self) { try database.save(mine) }
        #expect(error?.code == .conflict)
        #expect(try database.document("t") == theirs.document)
        #expect(try database.save(mine, onConflict: .branch).revision?.generation == 2)
        #expect(try database.conflict(of: "t")?.leaves.count == 2)
        try database.save(mine, onConflict: .lastWriteWins)
        #expect(try database.document("t")?["title"] == "Erase")
        let stale = #expect(throws: DatabaseError.self) { try database.delete(mine) }
        #expect(stale?.code == .conflict)
        let now = try #require(try database.document("t", as: Task.self))
        #expect(try database.delete(now.value)?.isDeleted == true)
    }

    @Test func `a model with a revision keeps what another writer changed elsewhere`() throws {
        try database.save(Task(id: "t", title: "Write"))
        var mine = try #require(try database.document("t", as: Task.self)).value
        try database.update("t") { $0["owner"] = "Ben" }
        mine.title = "Rewrite"
        #expect(try database.save(mine).document?.json == ["title": "Rewrite", "owner": "Ben"])
    }

    @Test func `an update changes the model that is stored now, and creates no document`() throws {
        try database.save(Note(id: "milk", title: "Milk"))
        var calls = 0
        let updated = try database.update("milk", as: Note.self) { note in
            calls += 1
            // Another writer comes in between, once.
            if calls == 1 { try database.update("milk") { $0["done"] = true } }
            note.title += "!"
        }
        #expect(calls == 2 && updated.document?.json == ["title": "Milk!", "done": true])
        let error = #expect(throws: DatabaseError.self) { try database.update("none", as: Note.self) { $0.title = "" } }
        #expect(error?.code == .notFound)
        #expect(try database.document("none") == nil)
    }

    @Test func `a model's id that is not the document's is refused`() throws {
        #expect(throws: DatabaseError.self) { try Document(id: "b", encoding: Task(id: "a", title: "")) }
        #expect(throws: DatabaseError.self) { try Document(encoding: [1, 2]) }
    }

    @Test func `queries give models their id and revision`() throws {
        try database.save(Task(id: "t", title: "Write"))
        let found = try #require(try database.find(DocumentQuery<Task>().where { $0.title == "Write" }).values.first)
        #expect(found.id == "t" && found.revision?.hasPrefix("1-") == true)
        #expect(try database.find(DocumentQuery<[String: String]>()).values == [["title": "Write"]])
    }

    @Test func `fields take variables of Swift, and give them back`() throws {
        var document = Document()
        let (count, name, due, tags, nothing): (Int, String, Date, [String], Int?) = (
            2, "Milk", Date(timeIntervalSince1970: 1.5), ["a", "b"], nil
        )
        document["count"] = count
        document["name"] = name
        document["due"] = due
        document["tags"] = tags
        document["ratio"] = Double.nan
        document["gone"] = 1
        document["gone"] = nothing
        document["literal"] = 3
        #expect(
            document.json == [
                "count": 2, "name": "Milk", "due": "1970-01-01T00:00:01.500Z", "tags": ["a", "b"], "ratio": nil,
                "literal": 3,
            ])
        let (readTags, readDue, wrong): ([String]?, Date?, Int?) = (document["tags"], document["due"], document["name"])
        #expect(readTags == tags && readDue == due && wrong == nil)
        #expect(document["count"] == 2 && document["count"]?.int == count)
        #expect(JSONValue(count) == 2)
    }

    @Test func `a number that JSON does not have is null, and its neighbours stay`() {
        var document = Document()
        let floats: [Double] = [1.5, .nan, -.infinity]
        let named: [String: [Float]] = ["a": [.infinity, 2.5]]
        let decimals: [Decimal] = [.nan, 3]
        document["floats"] = floats
        document["named"] = named
        document["decimals"] = decimals
        #expect(document.json == ["floats": [1.5, nil, nil], "named": ["a": [nil, 2.5]], "decimals": [nil, 3]])
    }

    @Test func `text names documents where it can't be wrong`() throws {
        let name = ["mi", "lk"].joined()
        try database.save(Document(id: try #require(DocumentID(name)), body: ["n": 1]))
        #expect(try database.document(name)?["n"] == 1)
        let (reserved, empty) = ("_" + name, String(name.prefix(0)))
        #expect(code { try database.document(reserved) } == .invalid)
        #expect(DocumentID(reserved) == nil && DocumentID(empty) == nil)
    }
}
