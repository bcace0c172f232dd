internal import Settle
internal import SettleServer

/// Queries of a database in a folder, answered here from the files that a server of this folder uses.
struct FolderQueries: QueryKeeper {
    private let queries: SelectorQueries
    private let name: String
    private let console: Console

    init(_ database: Database, name: String, _ console: Console) {
        queries = SelectorQueries(database)
        self.name = name
        self.console = console
        Interruption.watch()
    }

    func find(_ request: JSONObject, _ body: ([UInt8]) throws -> Bool) throws -> JSONObject {
        var documents = JSONElements(of: "docs", longestElement: 1 << 30)
        var goesOn = true
        try indexing { report in
            try queries.find(request, report: report) { piece in
                try Interruption.check()
                goesOn = try documents.take(piece) { element in
                    guard case .bytes(let text) = element else { return true }
                    return try body(Array(text))
                }
                return goesOn
            }
        }
        return goesOn ? try documents.finish() : JSONObject()
    }

    func explain(_ request: JSONObject) throws -> JSON { try queries.explain(request, name: name) }

    func indexes() throws -> [JSON] { try queries.indexes() }

    func create(_ request: JSONObject) throws -> JSON { try queries.create(request) }

    func delete(_ index: NamedIndex) throws {
        try queries.delete(index.name, type: index.type, of: index.designDocument ?? "")
    }

    func build(_ index: NamedIndex) throws {
        try indexing { try queries.build(index.name, type: index.type, of: index.designDocument ?? "", report: $0) }
    }

    private func indexing(_ job: ((_ done: Int, _ total: Int) throws -> Void) throws -> Void) throws {
        try ProgressBar.indexing(console, job)
    }
}
