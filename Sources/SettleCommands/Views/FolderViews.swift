internal import Settle
internal import SettleScripting
internal import SettleServer

/// Views of a database in a folder, built here and kept in the files that a server of this folder uses.
struct FolderViews: ViewKeeper {
    private let views: DesignViews
    private let console: Console

    init(_ database: Database, _ console: Console) {
        views = DesignViews(database, scripts: OwnProgram.scriptOptions)
        self.console = console
        Interruption.watch()
    }

    func forEachRow(
        of name: ViewName, _ query: HTTPQuery, keys: [JSON]?, _ body: ([UInt8]) throws -> Bool
    ) throws {
        var rows = JSONElements(of: "rows", longestElement: 1 << 30)
        try building { report in
            try views.query(name.view, of: name.design, query.items, keys: keys, report: report) { piece in
                try Interruption.check()
                return try rows.take(piece) { element in
                    guard case .bytes(let text) = element else { return true }
                    return try body(Array(text))
                }
            }
        }
    }

    func build(_ design: String) throws { try building { try views.build(design, report: $0) } }

    func info(_ design: String) throws -> JSON { try views.info(design) }

    /// Shows how far an index is while it is built, and ends that when the user interrupts.
    private func building(_ job: ((_ done: Int, _ total: Int) throws -> Void) throws -> Void) throws {
        do { try ProgressBar.indexing(console, job) } catch let error as ScriptError {
            throw CommandError(
                error.name, "a function of the design document failed: \(error.reason)", status: .refused)
        }
    }
}
