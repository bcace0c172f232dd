internal import RevisionTree

/// Brings what documents emit into an index file, a batch in one transaction.
protocol IndexWriting: AnyObject {
    /// How far the index has come.
    var state: IndexState { get }

    /// Applies what became of documents, each of which is there once, and says that the index has come so far.
    ///
    /// - Throws: ``DatabaseError``, or what a reducer throws; nothing is changed then.
    func apply(_ changes: [IndexChange], reaching state: IndexState) throws

    /// Forgets all rows.
    func clear(_ state: IndexState) throws

    /// The ids of the documents that have rows, so many after one.
    func documents(after id: DocumentID?, limit: Int) throws -> [DocumentID]
}
