// The code of the article "SwiftUI". It is compiled where SwiftUI is.
#if canImport(SwiftUI)
import Settle
import SettleUI
import SwiftUI

nonisolated struct Item: Codable, Identifiable {
    var id: String?
    var name: String
    var done = false
}

struct ShoppingApp: App {
    private let database = try? Database.openOrCreate(URL.documentsDirectory.appending(path: "shopping.settle").path)

    var body: some Scene {
        WindowGroup {
            if let database { ItemList().database(database) } else { Text("The database can't be opened.") }
        }
    }
}

struct ItemList: View {
    @LiveDocuments(DocumentQuery<Item>().where { !$0.done }) private var items
    @Environment(\.database) private var database

    var body: some View {
        List(items) { row in
            Button(row.name) {
                Task { try await database?.perform { try $0.update(row.id, as: Item.self) { $0.done = true } } }
            }
        }
        .overlay { if items.isEmpty, $items?.isLoading == false { Text("Nothing to buy") } }
    }
}

struct ItemDetail: View {
    @State private var item: LiveDocument<Item>

    init(_ id: DocumentID, in database: Database) {
        _item = State(initialValue: LiveDocument(id, as: Item.self, in: database))
    }

    var body: some View {
        if let value = item.value { Text(value.name) } else if !item.isLoading { Text("Deleted") }
    }
}
#else
print("There is no SwiftUI here.")
#endif
