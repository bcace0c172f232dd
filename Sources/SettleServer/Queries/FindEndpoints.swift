internal import SettleCore
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform
internal import SettleQuery
internal import SettleViews

/// The endpoints of queries by selector.
enum FindEndpoints {
    /// `POST /_condition`: converts a condition of the command line to a selector; an extension of CouchDB's API.
    static let condition: Endpoint = .work { context in
        try context.requireContentType()
        guard let text = try context.jsonObject()["text"]?.string else {
            throw HTTPError.badRequest("`text` must be a condition.")
        }
        do { return .json(["selector": try MangoSelector.json(ofCondition: text)]) } catch let error as ConditionError {
            return .json(
                [
                    "error": "bad_condition", "reason": .string(error.message),
                    "offset": .number(JSONNumber(error.offset)),
                ], status: 400)
        }
    }

    /// `POST /{db}/_find`
    static let find: Endpoint = .read { context in
        try context.requireContentType()
        let source = try context.source()
        let request = try FindRequest(context.jsonObject())
        var cursor = try FindCursor(request.resumed(), in: source)
        if cursor.isQuick(quickCount), let bytes = try quickAnswer(cursor, request, source, context) {
            return .json(bytes: bytes)
        }
        cursor.budget = QueryBudget(
            steps: context.options.querySteps, seconds: context.options.queryTime.inSeconds,
            isWanted: { [life = context.request.life] in !life.isAbandoned })
        let (database, context, begun) = (try source.database, try context.worker, cursor)
        guard try cursor.behind() > fewChanges, let scripts = context.scripts else {
            return try answer(cursor, request, context)
        }
        // Building an index takes time, and other requests need this thread.
        let deferred = Promise<HTTPResponse>()
        scripts.threads.submit(for: try DesignDocuments.owner(of: database)) {
            do {
                var response = try answer(begun, request, context)
                response.headers["Set-Cookie"] = context.user.renewedCookie
                deferred.fulfil(response)
            } catch { deferred.fulfil(.error(HTTPError(error))) }
        }
        return HTTPResponse(status: 200, body: .later(deferred))
    }

    /// The answer to a cheap query; `nil` if the query needs more work.
    private static func quickAnswer(
        _ cursor: FindCursor, _ request: FindRequest, _ source: any QuerySource, _ context: any ReadContext
    ) throws -> [UInt8]? {
        var cursor = cursor
        cursor.budget = QueryBudget(steps: quickSteps, seconds: .infinity)
        var answer = FindAnswer(cursor, request, source, context)
        do {
            let bytes = try answer.next(lookingAt: quickCount)
            return answer.isDone ? bytes : nil
        } catch let error as QueryError where error.code == .tooExpensive { return nil }
    }

    /// The maximum number of selector steps for an answer without waiting.
    private static let quickSteps = 1_000_000
    /// The maximum number of documents that are examined for an answer without waiting.
    private static let quickCount = 50
    /// The maximum number of changes that are added to an index before an answer without waiting.
    private static let fewChanges = 1000
    /// The number of pages that are examined before the answer begins.
    private static let firstPages = 8

    private static func answer(
        _ cursor: FindCursor, _ request: FindRequest, _ context: RequestContext
    ) throws -> HTTPResponse {
        let database = try context.database()
        let name = cursor.plan.index.designDocument.map { String($0.string.dropFirst("_design/".count)) } ?? ""
        if !cursor.isCurrent {
            try context.indexing.run(context.parameter("db"), name) { try cursor.update(report: $0) }
        }
        var answer = FindAnswer(cursor, request, database, context)
        var bytes: [UInt8] = []
        for _ in 0..<firstPages where !answer.isDone && bytes.count < 64 * 1024 {
            bytes += try answer.next()
        }
        return answer.isDone ? .json(bytes: bytes) : .json(stream: FindStream(answer, after: bytes))
    }

    /// `POST /{db}/_explain`
    static let explain: Endpoint = .work { context in
        try context.requireContentType()
        let database = try context.database()
        let request = try FindRequest(context.jsonObject())
        let plan = try FindPlanner(request.options, indexes: QueryIndexes.all(in: database)).explained()
        return .json(FindExplanation(request: request, plan: plan, name: context.parameter("db")).json)
    }
}

/// Sends an answer that is too long for one piece.
private final class FindStream: ResponseStream {
    private struct State {
        var answer: FindAnswer
        var piece: [UInt8]?
    }

    private let state: Guarded<State>

    /// - Parameters:
    ///   - answer: The rest of the answer.
    ///   - piece: The piece before it.
    init(_ answer: FindAnswer, after piece: [UInt8]) { state = Guarded(State(answer: answer, piece: piece)) }

    func next() throws -> ResponseStep {
        try state.withLock { state in
            if let piece = state.piece {
                state.piece = nil
                return .piece(piece)
            }
            guard !state.answer.isDone else { return .end }
            let piece = try state.answer.next()
            return .piece(state.answer.isDone ? piece + "\n".utf8 : piece)
        }
    }
}
