internal import SettleCore
internal import SettleDatabase
internal import SettleScripting

/// Runs functions on samples in the script workers, and stores nothing.
struct Trial {
    let context: RequestContext
    let database: Database
    let scripts: Scripts

    private static let mostDocuments = 100

    /// A document that functions are tried on: its text, and the stored one that it would replace.
    struct Sample {
        let id: String
        let text: [UInt8]
        var old: [UInt8]?
    }

    /// The samples that a request names: `ids`, `given`, or a page by `limit` and `startkey`.
    ///
    /// - Throws: ``HTTPError`` with status 400.
    func samples(_ value: JSONValue?) throws -> [Sample] {
        let members = value?.object ?? ["limit": 20]
        try members.requireMembers(among: ["ids", "given", "limit", "startkey"])
        if let given = members["given"]?.array {
            return try given.prefix(Self.mostDocuments).map { document in
                let id = document["_id"]?.string ?? ""
                return Sample(id: id, text: document.utf8, old: try stored(DocumentID(unchecked: id))?.text)
            }
        }
        if let ids = members["ids"]?.array {
            return try ids.prefix(Self.mostDocuments).compactMap { id in
                try id.string.flatMap { try stored(DocumentID(unchecked: $0)) }
            }
        }
        let limit = min(max(members["limit"]?.int ?? 20, 0), Self.mostDocuments)
        let start = members["startkey"]?.string.map { DocumentID(unchecked: $0) }
        var (range, samples) = (DocumentRange(from: start), [Sample]())
        while samples.count < limit {
            let page = try database.records(in: range, limit: Self.mostDocuments, withContent: true)
            guard let last = page.last else { break }
            range.after = last.id
            // Design documents and tombstones are in no view.
            for record in page where !record.id.isDesign && record.tree.winner?.isDeleted == false {
                samples.append(
                    Sample(id: record.id.string, text: ScriptDocument.mapped(record, hasSequence: false)))
            }
        }
        return Array(samples.prefix(limit))
    }

    private func stored(_ id: DocumentID) throws -> Sample? {
        guard let record = try database.record(of: id), record.tree.winner?.isDeleted == false else { return nil }
        return Sample(id: id.string, text: ScriptDocument.mapped(record, hasSequence: false))
    }

    /// Asks one validation function about documents, as if the user wrote them; without a function the stored ones, which see the
    /// user of the request.
    func validate(_ samples: [Sample], by function: String?, as user: JSONValue?) throws -> JSONValue {
        let refusals: [DatabaseError?]
        if let function {
            let source = ScriptSource(
                owner: try DesignDocuments.owner(of: database), key: "trial \(function.hashValue)",
                document: JSONValue.object(["validate_doc_update": .string(function)]).utf8)
            let author: JSONValue = [
                "db": .string(context.parameter("db")), "name": user?["name"] ?? .null,
                "roles": user?["roles"] ?? .array([]),
            ]
            let security = try context.databases.security(of: context.parameter("db")).json
            let documents = samples.map { sample in
                [UInt8(ascii: "[")] + sample.text + [UInt8(ascii: ",")] + (sample.old ?? Array("null".utf8))
                    + [UInt8(ascii: "]")]
            }
            let answers = try scripts.pool.run(
                .validate(documents, of: JSONValue.array([author, security]).utf8, by: source))
            refusals = answers.map(ValidationScripts.refusal)
        } else {
            let stored = try ValidationScripts(context)
            refusals = stored.refusals(of: samples.map { .init(new: $0.text, old: $0.old) })
        }
        return .array(
            zip(samples, refusals).map { sample, refusal in
                guard let refusal else { return ["id": .string(sample.id), "ok": true] }
                let error = HTTPError(refusal)
                return [
                    "id": .string(sample.id), "ok": false, "error": .string(error.error),
                    "reason": .string(error.reason),
                ]
            })
    }

    /// Maps samples, and reduces all rows to one value if a reduce function is given.
    func map(_ samples: [Sample], by map: String, reduce: String?) throws -> (rows: JSONValue, reduced: JSONValue?) {
        let owner = try DesignDocuments.owner(of: database)
        let source = ScriptSource(owner: owner, key: "trial \(map.hashValue)", maps: [map], library: nil)
        let answers = try scripts.pool.run(.map(samples.map(\.text), by: source))
        var rows: [(id: String, row: JSONValue)] = []
        for (sample, answer) in zip(samples, answers) {
            for row in try JSONValue(utf8: answer)[0]?.array ?? [] { rows.append((sample.id, row)) }
        }
        let shown = JSONValue.array(
            rows.map { id, row in ["id": .string(id), "key": row[0] ?? .null, "value": row[1] ?? .null] })
        // The ready reduce functions are no scripts, and need no trial.
        guard let reduce, !reduce.hasPrefix("_"), !rows.isEmpty else { return (shown, nil) }
        let input = JSONValue.array(
            rows.map { id, row in .array([.array([row[0] ?? .null, .string(id)]), row[1] ?? .null]) })
        let reduced = try scripts.pool.run(.reduce([input.utf8], by: [reduce], again: false, in: source))
        return (shown, try reduced.first.flatMap { try JSONValue(utf8: $0)[0] })
    }

    /// What is wrong with the syntax of functions: kind, message and line of each.
    func problems(_ functions: [(kind: String, text: String)]) throws -> [JSONValue] {
        let source = ScriptSource(
            owner: try DesignDocuments.owner(of: database), key: "trial syntax", document: Array("{}".utf8))
        let answers = try scripts.pool.run(.syntax(functions.map { (false, $0.text) }, in: source))
        return try zip(functions, answers).compactMap { function, answer in
            guard answer != [UInt8(ascii: "1")] else { return nil }
            let told = try JSONValue(utf8: answer)
            return [
                "function": .string(function.kind), "error": "compilation_error", "reason": told[0] ?? .null,
                "line": told[1] ?? .null,
            ]
        }
    }
}
