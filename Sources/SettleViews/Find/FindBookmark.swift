import SettleCore
import SettleDatabase

/// A position in the results of a query: after the row of one document.
///
/// It stores the row's position, not the number of rows before it. So insertions and deletions elsewhere don't affect
/// it, and the row itself may be deleted.
package struct FindBookmark: Hashable, Sendable {
    /// The document.
    let id: DocumentID
    /// The row's key: its values in an index, or its id in the list of all documents.
    let key: JSON

    /// CouchDB's bookmark of an empty result, which can't be used as a start.
    package static let none = "nil"

    /// The bookmark as text, in CouchDB's format.
    package var text: String { BookmarkText.encode(id: id.string, key: key) }

    init(id: DocumentID, key: JSON) {
        self.id = id
        self.key = key
    }

    /// Parses a bookmark.
    ///
    /// - Throws: ``QueryError`` with code `invalidBookmark`.
    package init(_ text: String) throws {
        guard let place = BookmarkText.decode(text) else {
            throw QueryError(.invalidBookmark, "Invalid bookmark value: \(JSON.string(text))")
        }
        self.init(id: DocumentID(unchecked: place.id), key: place.key)
    }
}
