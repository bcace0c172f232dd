// The code of the article "Schema changes".
import Settle

let database = try Database.inMemory()
try database.save(
    Document(
        id: "p1",
        body: ["type": "person", "name": "Ada Lovelace", "extra": true, "home": ["city": "London", "zip": "W1"]]))

// A new field: optional, so that documents without it are still read. What the model does not name stays in the document, at any depth.
struct Person: DocumentModel, Identifiable {
    var id: String?
    var name: String
    var nickname: String?
    var home: Home?
    struct Home: Codable { var city: String }
    static let documentType: DocumentType? = DocumentType("person")
}

try database.update("p1", as: Person.self) { person in
    person.nickname = "Ada"
    person.home?.city = "Paris"
}
print(try database.document("p1")?.json ?? .null)
// → {"type":"person","name":"Ada Lovelace","extra":true,"home":{"city":"Paris","zip":"W1"},"nickname":"Ada"}

// A renamed field: the model reads both and writes both, as long as there are apps of the version before.
nonisolated struct Contact: Codable, Identifiable {
    var id: String?
    var fullName: String

    enum CodingKeys: String, CodingKey {
        case id, name, fullName
    }

    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        id = try fields.decodeIfPresent(String.self, forKey: .id)
        fullName =
            try fields.decodeIfPresent(String.self, forKey: .name) ?? fields.decode(String.self, forKey: .fullName)
    }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(fullName, forKey: .fullName)
        try fields.encode(fullName, forKey: .name)
    }
}

try database.update("p1", as: Contact.self) { $0.fullName = "Ada King" }
print(try database.document("p1")?["fullName"] ?? .null, try database.document("p1")?["name"] ?? .null)
// → "Ada King" "Ada King"

// An edit by the previous version of the app.
try database.update("p1") { $0["name"] = "Ada Byron" }
print(try database.document("p1", as: Contact.self)?.fullName ?? "")
// → Ada Byron

// A change of all documents: from old fields to new ones alone, so that all devices write the same revision.
let version = 2
for row in try database.find(DocumentQuery<Person>()).rows {
    try database.updateIfNeeded(row.id) { person in
        guard (person["schema"]?.int ?? 1) < version else { return false }
        person["schema"] = version
        person["initial"] = .string(String(person["name"]?.string?.prefix(1) ?? ""))
        return true
    }
}

// What no longer fits is listed, and ends no query.
try database.save(Document(id: "p2", body: ["type": "person", "name": 7]))
for misfit in try database.find(DocumentQuery<Person>()).misfits { print(misfit.id) }
// → p2

// Documents that are not of the shape agreed on are refused, local ones and replicated ones.
let schema = try JSONSchema(["type": "object", "required": ["name"], "properties": ["name": ["type": "string"]]])
database.addValidation("person", schema.validation { $0["type"]?.string == "person" && !$0.isDeleted })
