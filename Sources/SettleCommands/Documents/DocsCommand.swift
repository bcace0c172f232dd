internal import Settle
import SettleCore
import SettleDatabase

/// `settle docs`: lists documents.
enum DocsCommand: Command {
    static let spec = CommandSpec(
        "docs", "list documents by their ids",
        discussion: "Ids are compared byte by byte. Deleted documents are listed in the order of their deletion.",
        operands: [.database],
        options: [
            Option("--bodies", "print the documents, one per line"),
            .csv, .csvFields,
            Option("--limit", value: "N", "print at most N documents"),
            Option("--from", value: "ID", "start at this id, or after it if there is no such document"),
            Option("--prefix", value: "TEXT", "only ids with this prefix"),
            Option("--descending", "descending order of ids"),
            Option("--deleted", "list deleted documents instead"),
            Option("--conflicts", "only documents with conflicts"),
        ],
        examples: [
            CommandSpec.Example("settle docs groceries --limit 10", "the first ten ids with their revisions"),
            CommandSpec.Example("settle docs groceries --prefix order: --bodies", "all orders, as JSON lines"),
            CommandSpec.Example("settle docs groceries --csv --fields _id,name,price", "a table for a spreadsheet"),
            CommandSpec.Example("settle docs groceries --conflicts", "documents that are left to settle"),
        ],
        json: """
            one line each: {"id":…,"rev":…}, with "deleted":true for a deleted one, with "conflicts":[revision …] \
            under --conflicts; the document itself under --bodies
            """)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        try arguments.refuse("--deleted", with: "--conflicts")
        let limit = try arguments.count("--limit") ?? .max
        for option in ["--bodies", "--json", "--conflicts"] { try arguments.refuse("--csv", with: option) }
        let fields = try arguments.columns()
        let table = try arguments.flag("--csv") ? CSVTable(to: invocation.console.output, fields: fields) : nil
        let lister = Lister(
            console: invocation.console, table: table, hasBodies: table != nil || arguments.flag("--bodies"),
            prefix: arguments.text("--prefix") ?? "", from: arguments.text("--from"),
            isDescending: arguments.flag("--descending"))
        var count = 0
        func write(_ document: Document, _ conflicts: [RevisionID]? = nil) throws -> Bool {
            if count < limit { try lister.write(document, conflicts: conflicts) }
            count += 1
            return count < limit
        }
        try invocation.withClient { client in
            if limit == 0 { return }
            if arguments.flag("--deleted") {
                try client.forEachDeletedDocument(isDescending: lister.isDescending, withBodies: lister.hasBodies) {
                    try lister.includes($0.id) ? write($0) : true
                }
            } else if arguments.flag("--conflicts") {
                let ids = try client.documentsWithLeaves().filter(lister.includes)
                try client.forEachDocumentInConflict(lister.isDescending ? ids.reversed() : ids, write)
            } else {
                try client.forEachDocument(in: lister.range, limit: limit, withBodies: lister.hasBodies) {
                    try write($0)
                }
            }
        }
        if let table { invocation.console.warn(ofMissing: try table.finish()) }
        return .success
    }
}

/// The selection of documents, and their format.
private struct Lister {
    let console: Console
    let table: CSVTable?
    let hasBodies: Bool
    let prefix: String
    let from: String?
    let isDescending: Bool

    /// The range of ids; neither bound needs to exist.
    var range: DocumentRange {
        var range = DocumentRange(descending: isDescending)
        if !prefix.isEmpty {
            range.from = DocumentID(unchecked: prefix)
            range.through = DocumentID(unchecked: prefix + "\u{10FFFF}\u{10FFFF}")
        }
        guard let from else { return range }
        let bound = DocumentID(unchecked: from)
        if isDescending {
            range.through = range.through.map { min($0, bound) } ?? bound
        } else {
            range.from = range.from.map { max($0, bound) } ?? bound
        }
        return range
    }

    func includes(_ id: DocumentID) -> Bool {
        let range = range
        return range.from.map { $0 <= id } ?? true && range.through.map { id <= $0 } ?? true
    }

    func write(_ document: Document, conflicts: [RevisionID]?) throws {
        if let table { return try table.add(JSONValue(utf8: document.wire.bytes(.bodyLate))) }
        if hasBodies { return try console.output.write(document.wire.bytes(.bodyLate) + [UInt8(ascii: "\n")]) }
        let revision = document.revision?.description ?? ""
        guard console.isJSON else {
            let count = conflicts.map { "  " + console.styled(Quantity.of($0.count, "conflict"), .red) } ?? ""
            let id = Columns.padded(document.id.string)
            return try console.print("\(id)  \(console.styled(revision, .faint))\(count)")
        }
        var line: JSONValue = ["id": .string(document.id.string), "rev": .string(revision)]
        if document.isDeleted { line["deleted"] = true }
        if let conflicts { line["conflicts"] = .array(conflicts.map { .string($0.description) }) }
        try console.print(line.description)
    }
}
