internal import RevisionTree
internal import SettleDatabase

/// Prints changes.
struct ChangeRow {
    let database: Database
    let query: ChangesQuery
    let filter: ChangesFilter
    let sequences: WireSequence

    /// A change as JSON, or `nil` when the filter does not show it.
    func bytes(_ record: DocumentRecord) throws -> [UInt8]? {
        let leaves = try filter.leaves(of: record, in: database, hasAllLeaves: query.hasAllLeaves)
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
            bytes += try printer.print(winner.revision, content, of: record, hasMeta: true).bytes
        }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }

    private var printer: DocumentPrinter {
        var options = DocumentOptions()
        options.hasConflicts = query.hasConflicts
        options.hasAttachments = query.hasAttachments
        options.hasEncodingInfo = query.hasEncodingInfo
        return DocumentPrinter(database: database, options: options)
    }
}
