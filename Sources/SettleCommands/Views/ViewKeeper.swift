internal import Settle

/// Who builds and asks the views of design documents: this process, in the folder of a database, or a server.
protocol ViewKeeper {
    /// Goes over the rows of a view.
    ///
    /// - Parameters:
    ///   - name: The view.
    ///   - query: What is asked behind its URL.
    ///   - keys: The keys of interest, where they are many.
    ///   - body: Is given each row as JSON text, and says whether to go on.
    /// - Throws: ``CommandError``, and what `body` throws.
    func forEachRow(
        of name: ViewName, _ query: HTTPQuery, keys: [JSON]?, _ body: ([UInt8]) throws -> Bool) throws

    /// Brings the views of a design document up to date.
    func build(_ design: String) throws

    /// What is known of the index of a design document's views: the members of CouchDB's `view_index`.
    func info(_ design: String) throws -> JSON
}
