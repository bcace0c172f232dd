// The code of the article "Previews and sample data".
import Foundation
import Settle

// snippet.model
struct Item: Codable, Identifiable {
    var id: String?
    var name: String
    var count = 1
    var done = false
}
// snippet.end

// snippet.sample
extension Database {
    /// A database in memory with sample data, for previews, screenshots and tests.
    static func sample(_ items: [Item] = Item.samples) -> Database? {
        guard let database = try? Database.inMemory() else { return nil }
        for item in items { _ = try? database.save(item) }
        return database
    }
}

extension Item {
    static let samples = [
        Item(name: "Milk"), Item(name: "Bread", count: 2), Item(name: "Coffee, ground, as fine as it gets", done: true),
    ]
}
// snippet.end

// snippet.file
/// The documents of a file with a JSON array, such as one in the bundle of the app.
func load(_ file: URL, into database: Database) throws {
    let list = try JSONValue(utf8: Array(Data(contentsOf: file))).array ?? []
    for result in try database.saveAll(list.map { try Document(body: DocumentBody($0)) }) { _ = try result.get() }
}
// snippet.end

#if canImport(SwiftUI)
import SettleUI
import SwiftUI

// snippet.preview
struct ItemList: View {
    @LiveDocuments(DocumentQuery<Item>().where { !$0.done }) private var items

    var body: some View {
        List(items) { row in Text(row.value.name) }
    }
}

#Preview("Some items") {
    if let database = Database.sample() { ItemList().database(database) }
}

#Preview("Nothing to buy") {
    if let database = Database.sample([]) { ItemList().database(database) }
}
// snippet.end
#endif

let database = try Database.inMemory()
let file = FileManager.default.temporaryDirectory.appending(path: "settle-\(UUID().uuidString).json")
try Data(#"[{"name":"Milk"},{"name":"Bread","count":2}]"#.utf8).write(to: file)
try load(file, into: database)
try FileManager.default.removeItem(at: file)
guard try database.info().documents.live == 2,
    try Database.sample()?.find(DocumentQuery<Item>().where { !$0.done }).values.count == 2
else { throw DatabaseError(.storage, "the sample data are not as they should be") }
print("the sample data are there")
