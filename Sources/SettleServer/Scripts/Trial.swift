internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform
internal import SettleScripting
internal import SettleViews

/// Runs functions on samples in a script worker, all within the time limit of one function, and stores nothing.
struct Trial {
    let context: RequestContext
    let database: Database
    let scripts: Scripts

    /// The members of a request.
    struct Request {
        /// The source code by kind of function.
        let functions: JSONObject
        /// The modules for `require`: members of a design document.
        let modules: JSONValue?
        /// The user for a validation function: `name` and `roles`.
        let user: JSONValue?
        /// The value of `req.query` for a filter.
        let query: JSONValue?

        /// - Throws: ``HTTPError`` with status 400.
        init(_ members: JSONObject) throws {
            guard let functions = members["functions"]?.object else {
                throw HTTPError.badRequest("`functions` must be \"stored\" or an object.")
            }
            try functions.requireMembers(among: ["map", "reduce", "validate_doc_update", "filter"])
            guard functions.allSatisfy({ $0.value.string != nil }),
                ["map", "validate_doc_update", "filter"].count(where: { functions[$0] != nil }) == 1,
                functions["reduce"] == nil || functions["map"] != nil
            else {
                throw HTTPError.badRequest(
                    "`functions` must have one of `map` (and with it maybe `reduce`), `validate_doc_update` and `filter`, each a text."
                )
            }
            self.functions = functions
            modules = members["modules"]
            user = members["user"]
            query = members["query"]
        }
    }

    /// Runs the functions, and returns the members of the answer.
    func run(_ request: Request, on samples: [TrialSamples.Sample]) throws -> [(String, JSONValue)] {
        let ready = request.functions["reduce"]?.string.flatMap { $0.hasPrefix("_") ? $0 : nil }
        if let problem = ready.flatMap(BuiltInReducer.problem) {
            return members([
                "errors": [["function": "reduce", "error": "compilation_error", "reason": .string(problem)]]
            ])
        }
        let scripts = JSONObject(
            request.functions.filter { ready == nil || $0.name != "reduce" }.map { ($0.name, $0.value) })
        let texts = samples.map { sample in
            [UInt8(ascii: "[")] + sample.text + [UInt8(ascii: ",")] + (sample.old ?? Array("null".utf8))
                + [UInt8(ascii: "]")]
        }
        let call = ScriptRequest.trial(
            JSONValue.object(scripts).utf8, context: try surroundings(request).utf8,
            samples: [UInt8(ascii: "[")] + Array(texts.joined(separator: [UInt8(ascii: ",")])) + [UInt8(ascii: "]")],
            in: try source(request))
        do {
            let answer = try self.scripts.pool.run(call).first.map { try JSONValue(utf8: $0) }
            return try members(answer?.object ?? [:], reducing: ready)
        } catch let error as ScriptError {
            return members(["errors": [["error": .string(error.name), "reason": .string(error.reason)]]])
        }
    }

    /// A separate context for each trial, so that other scripts can't change what its functions see. Its owner is
    /// not the database itself, so a long trial delays no view.
    private func source(_ request: Request) throws -> ScriptSource {
        let modules = request.modules ?? .object([:])
        let names = JSONValue.array([.object(request.functions), modules]).utf8
        return ScriptSource(
            owner: try DesignDocuments.owner(of: database) + " trial",
            key: "trial " + Hexadecimal.encode(HashFunction.sha256.hash(names)), document: modules.utf8)
    }

    /// The arguments of the functions in addition to the documents.
    private func surroundings(_ request: Request) throws -> JSONValue {
        let name = context.parameter("db")
        var asked = try ScriptRequestObject.json(context, id: nil, body: []).object ?? [:]
        asked["query"] = request.query?.object.map { .object($0) } ?? .object([:])
        let user: JSONValue = [
            "db": .string(name), "name": request.user?["name"] ?? .null, "roles": request.user?["roles"] ?? .array([]),
        ]
        return [
            "user": user, "security": try context.databases.security(of: name).json, "request": .object(asked),
        ]
    }

    private func members(_ answer: JSONObject) -> [(String, JSONValue)] {
        [("rows", []), ("errors", answer["errors"] ?? []), ("log", []), ("docs", 0)]
    }

    /// Converts the worker's answer, which untrusted functions may have influenced, to the form of this endpoint.
    private func members(_ answer: JSONObject, reducing ready: String?) throws -> [(String, JSONValue)] {
        let rows = answer["rows"]?.array ?? []
        var (members, errors) = ([(String, JSONValue)](), answer["errors"]?.array ?? [])
        let results = (answer["results"]?.array ?? []).map { result -> JSONValue in
            let id = result["id"] ?? .null
            if let passes = result["passes"] { return ["id": id, "passes": passes] }
            return Self.verdict(id, result["refusal"]?.array?.first.map(ValidationScripts.refusal))
        }
        var reduced = answer["reduced"]?[0]
        if let ready, !rows.isEmpty {
            let loose = rows.map { row in
                (id: row[0]?.string ?? "", key: row[1] ?? .null, value: row[2] ?? .null)
            }
            do { reduced = try BuiltInReducer.reduce(loose, by: ready) } catch let error as MapIndexError {
                errors.append(
                    ["function": "reduce", "error": .string(error.name), "reason": .string(error.reason)])
            }
        }
        if results.isEmpty {
            members.append(("rows", .array(rows.map(Self.row))))
        } else {
            members.append(("results", .array(results)))
        }
        if let reduced { members.append(("reduced", [["key": .null, "value": reduced]])) }
        return members + [
            ("errors", .array(errors)), ("log", answer["log"] ?? []), ("docs", answer["tried"] ?? 0),
        ]
    }

    /// The verdict of a validation function on a document.
    static func verdict(_ id: JSONValue, _ refusal: DatabaseError?) -> JSONValue {
        guard let refusal else { return ["id": id, "ok": true] }
        let error = HTTPError(refusal)
        return ["id": id, "ok": false, "error": .string(error.error), "reason": .string(error.reason)]
    }

    private static func row(_ row: JSONValue) -> JSONValue {
        ["id": row[0] ?? .null, "key": row[1] ?? .null, "value": row[2] ?? .null]
    }
}

// MARK: - TryEndpoints

/// Tries functions on samples before they are stored; an extension of CouchDB's API.
enum TryEndpoints {
    /// The time that a search for samples may take.
    private static let patience = Duration.seconds(2)

    /// `POST /{db}/_try`
    ///
    /// `{"functions":"stored"}` runs the stored validation functions on documents that the user would write. Other
    /// functions are for administrators of the database, who may store functions anyway.
    static let attempt: Endpoint = .work { context in
        try context.requireContentType()
        let members = try context.jsonObject()
        try members.requireMembers(among: ["functions", "docs", "user", "modules", "query"])
        guard let scripts = context.scripts else { throw HTTPError.notImplemented("this server runs no scripts") }
        let begin = ContinuousClock.now
        let database = try context.database()
        func samples() throws -> [TrialSamples.Sample] {
            try TrialSamples(database: database).named(members["docs"], until: begin + patience)
        }
        var told: [(String, JSONValue)]
        if members["functions"] == "stored" {
            let samples = try samples()
            told = [("results", try stored(context, samples)), ("docs", .number(JSONNumber(samples.count)))]
        } else {
            let request = try Trial.Request(members)
            let security = try context.databases.security(of: context.parameter("db"))
            guard security.isAdmin(context.user) else { throw HTTPError.notAdmin(context.user) }
            told = try Trial(context: context, database: database, scripts: scripts).run(request, on: samples())
        }
        let spent = (ContinuousClock.now - begin) / .milliseconds(1)
        return .json(.object(JSONObject(told + [("milliseconds", .number(JSONNumber(Int(spent))))])))
    }

    /// The verdicts of the stored validation functions on documents that the user would write.
    private static func stored(_ context: RequestContext, _ samples: [TrialSamples.Sample]) throws -> JSONValue {
        let questions = samples.map { ValidationScripts.Question(new: $0.text, old: $0.old) }
        let refusals = try ValidationScripts(context).refusals(of: questions)
        return .array(
            zip(samples, refusals).map { sample, refusal in
                Trial.verdict(.string(sample.id), refusal)
            })
    }
}
