internal import RevisionTree
internal import SettleDatabase

/// Prints changes.
struct ChangeRow {
    let database: Database
    let query: ChangesQuery
    let filter: ChangesFilter
    let sequences: WireSequence
    let metrics: Metrics

    /// A change as JSON, or `nil` when the filter does not show it.
    ///
    /// - Parameters:
    ///   - record: The document.
    ///   - chosen: The leaves that a function lets through, where one was asked.
    /// - Returns: The row.
    /// - Throws: ``DatabaseError``.
    func bytes(_ record: DocumentRecord, chosen: [RevisionNode]? = nil) throws -> [UInt8]? {
        let leaves =
            try chosen ?? filter.leaves(of: record, hasAllLeaves: query.hasAllLeaves) { try document($0, of: record) }
        guard !leaves.isEmpty, let winner = record.tree.winner else { return nil }
        var bytes = Array("{\"seq\":\"\(sequences.text(record.sequence))\",\"id\":".utf8)
        JSON.append(record.id.string, to: &bytes)
        bytes += Array(",\"changes\":[".utf8)
        for (index, leaf) in leaves.enumerated() {
            bytes += Array((index == 0 ? "{\"rev\":" : ",{\"rev\":").utf8)
            JSON.append(leaf.revision.description, to: &bytes)
            bytes.append(UInt8(ascii: "}"))
        }
        bytes.append(UInt8(ascii: "]"))
        if winner.isDeleted { bytes += Array(",\"deleted\":true".utf8) }
        if query.hasDocuments, let content = record.content {
            bytes += Array(",\"doc\":".utf8)
            let printer = DocumentPrinter(database: database, options: query.documents, metrics: metrics)
            let document = try printer.print(winner.revision, content, of: record, hasMeta: true).bytes
            bytes += try filter.projection.map { $0.shown(of: try JSON(utf8: document)).utf8 } ?? document
        }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    /// The leaves that a function is asked about, winner first, each as it sees them.
    func candidates(of record: DocumentRecord) throws -> [(leaf: RevisionNode, json: [UInt8])] {
        guard let winner = record.tree.winner else { return [] }
        return try (query.hasAllLeaves ? record.tree.leaves : [winner]).compactMap { leaf in
            try printed(leaf, of: record).map { (leaf, $0) }
        }
    }

    /// A leaf as the filter sees it: with the conflicts where they are asked for, of the winner only.
    private func document(_ leaf: RevisionNode, of record: DocumentRecord) throws -> JSON? {
        try printed(leaf, of: record).map { try JSON(utf8: $0) }
    }

    private func printed(_ leaf: RevisionNode, of record: DocumentRecord) throws -> [UInt8]? {
        let isWinner = leaf.revision == record.tree.winner?.revision
        let known = isWinner ? record.content : nil
        guard let content = try known ?? database.content(of: leaf.revision, in: record) else { return nil }
        var options = DocumentOptions()
        options.hasConflicts = query.documents.hasConflicts && !query.hasAllLeaves
        let printer = DocumentPrinter(database: database, options: options)
        return try printer.print(leaf.revision, content, of: record, hasMeta: isWinner).bytes
    }
}
