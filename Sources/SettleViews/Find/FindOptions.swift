import RevisionTree
package import SettleDatabase

/// What a query asks for, without a model: CouchDB's `_find` as a value.
package struct FindOptions: Sendable {
    /// Which documents.
    package var selector: Selector
    /// By what they are sorted; an index has to serve it.
    package var sort: [SortField] = []
    /// How many at the most.
    package var limit = 25
    /// How many to pass over, on each page anew.
    package var skip = 0
    /// What is shown of a document; all of it when there are none.
    package var fields: [String] = []
    /// Where to go on, as an earlier answer said.
    package var bookmark: FindBookmark?
    /// The index to use: a design document's name, with or without `_design/`, and perhaps the index's.
    package var useIndex: [String] = []
    /// Whether another index will do where that one does not fit.
    package var allowsFallback = true
    /// Whether documents show the revisions they are in conflict with.
    package var hasConflicts = false
    /// Whether the index is brought up to date before.
    package var isUpdated = true
    /// Whether documents are counted as read from several copies, which CouchDB does when `r` is more than one.
    package var isQuorum = false

    /// Asks for the documents that a selector matches.
    package init(_ selector: Selector) { self.selector = selector }

    /// Whether an index is one of those that are asked for.
    func names(_ index: QueryIndex) -> Bool {
        guard let first = useIndex.first, let document = index.designDocument?.string else { return false }
        let id = first.hasPrefix("_design/") ? first : "_design/" + first
        guard document.utf8.elementsEqual(id.utf8) else { return false }
        return useIndex.count < 2 || index.name.utf8.elementsEqual(useIndex[1].utf8)
    }

    /// The index that is asked for, as CouchDB names it in its sentences.
    var indexName: String? {
        guard let first = useIndex.first else { return nil }
        let document = first.hasPrefix("_design/") ? first : "_design/" + first
        return useIndex.count < 2 ? document : "\(document), \(useIndex[1])"
    }
}
