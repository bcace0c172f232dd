internal import SettleCore
internal import SettleDatabase
internal import SettleScripting

/// A function of a design document that says which changes a feed shows.
struct ScriptFilter: Sendable {
    private let pool: ScriptPool
    private let source: ScriptSource
    private let name: String
    /// The request as the function sees it; `nil` for a view's map function.
    private let request: [UInt8]?

    /// The leaves of a document that are shown, for each document.
    typealias Chosen = [[RevisionNode]]

    /// A function among the `filters`.
    init(function name: String, of design: DesignDocument, _ context: RequestContext, body: [UInt8]) throws {
        try self.init(name, design, context, try ScriptRequestObject.json(context, id: nil, body: body).utf8)
    }

    /// A view, whose map function has to emit something.
    init(view name: String, of design: DesignDocument, _ context: RequestContext) throws {
        try self.init(name, design, context, nil)
    }

    private init(_ name: String, _ design: DesignDocument, _ context: RequestContext, _ request: [UInt8]?) throws {
        guard let scripts = context.scripts else {
            throw HTTPError.notImplemented("this server runs no scripts, and so has no filter functions")
        }
        guard design.language == "javascript" else { throw HTTPError(500, "unknown_query_language", design.language) }
        pool = scripts.pool
        source = design.source
        self.name = name
        self.request = request
    }

    /// Asks about the leaves of some documents.
    ///
    /// - Parameters:
    ///   - candidates: For each document the leaves, as the function sees them.
    ///   - taker: Gets those that are shown, on a thread it must soon leave.
    func ask(
        _ candidates: [[(leaf: RevisionNode, json: [UInt8])]],
        _ taker: @escaping @Sendable (Result<Chosen, ScriptError>) -> Void
    ) {
        let texts = candidates.flatMap { $0.map(\.json) }
        let leaves = candidates.map { $0.map(\.leaf) }
        guard !texts.isEmpty else { return taker(.success(leaves)) }
        let call =
            request.map { pool.submit(.filter(texts, by: name, request: $0, of: source)) }
            ?? pool.submit(.filter(texts, byView: name, of: source))
        call.whenDone { answer in
            taker(
                answer.map { answers in
                    var rest = answers[...]
                    return leaves.map { $0.filter { _ in rest.popFirst() == [UInt8(ascii: "1")] } }
                })
        }
    }
}
