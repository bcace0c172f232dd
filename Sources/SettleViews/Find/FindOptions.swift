import SettleCore
package import SettleDatabase

/// The parameters of a query without a model: CouchDB's `_find` as a value.
package struct FindOptions: Sendable {
    /// The selector of the documents.
    package var selector: Selector
    /// The order of the results, which requires an index.
    package var sort: [SortField] = []
    /// The maximum number of documents.
    package var limit = 25
    /// The number of documents to skip, on each page again.
    package var skip = 0
    /// The members to return; whole documents if empty.
    package var fields: [String] = []
    /// The bookmark of an earlier result to continue from.
    package var bookmark: FindBookmark?
    /// The index to use: a design document's name, with or without `_design/`, optionally followed by the index's
    /// name.
    package var useIndex: [String] = []
    /// Whether another index may be used if that one does not fit.
    package var allowsFallback = true
    /// Whether returned documents include their conflicts.
    package var hasConflicts = false
    /// Whether the index is updated first.
    package var isUpdated = true
    /// Whether documents count as read from several copies, as in CouchDB when `r` is more than one.
    package var isQuorum = false

    /// Makes options for the documents that a selector matches.
    package init(_ selector: Selector) { self.selector = selector }

    /// Whether an index is one of the requested ones.
    func names(_ index: QueryIndex) -> Bool {
        guard let first = useIndex.first, let document = index.designDocument?.string else { return false }
        let id = first.hasPrefix("_design/") ? first : "_design/" + first
        guard document.utf8.elementsEqual(id.utf8) else { return false }
        return useIndex.count < 2 || index.name.utf8.elementsEqual(useIndex[1].utf8)
    }

    /// The requested index, in the format of CouchDB's messages.
    var indexName: String? {
        guard let first = useIndex.first else { return nil }
        let document = first.hasPrefix("_design/") ? first : "_design/" + first
        return useIndex.count < 2 ? document : "\(document), \(useIndex[1])"
    }
}
