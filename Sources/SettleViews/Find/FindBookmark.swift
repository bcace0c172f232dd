import RevisionTree
import SettleDatabase

/// A place in the results of a query: behind the row of one document.
///
/// It says where that row stands, not how many came before; so what is inserted or deleted elsewhere meanwhile changes
/// nothing, and even the row itself may be gone.
package struct FindBookmark: Hashable, Sendable {
    /// The document.
    let id: DocumentID
    /// The row's key: its values in an index, or its id in the list of all documents.
    let key: JSON

    /// What CouchDB answers where no document was found, which can't be asked for.
    package static let none = "nil"

    /// The bookmark as a text, in CouchDB's form.
    package var text: String { BookmarkText.encode(id: id.string, key: key) }

    init(id: DocumentID, key: JSON) {
        self.id = id
        self.key = key
    }

    /// Reads a text.
    ///
    /// - Throws: ``QueryError`` with code `invalidBookmark`.
    package init(_ text: String) throws {
        guard let place = BookmarkText.decode(text) else {
            throw QueryError(.invalidBookmark, "Invalid bookmark value: \(JSON.string(text))")
        }
        self.init(id: DocumentID(unchecked: place.id), key: place.key)
    }
}
