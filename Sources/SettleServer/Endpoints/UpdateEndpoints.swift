internal import SettleCore
internal import SettleDatabase
internal import SettleScripting

/// Functions that make or change a document as they see fit, and answer what they like.
enum UpdateEndpoints {
    /// `/{db}/_design/{design}/_update` without the name of a function.
    static let noFunction: Endpoint = .work { context in
        _ = try DesignDocuments.document(context.parameter("design"), of: context.database())
        throw HTTPError(404, "update_error", "Invalid path.")
    }

    /// `POST` and `PUT /{db}/_design/{design}/_update/{function}` and `…/{doc}`
    static let update: Endpoint = .work { context in
        guard let scripts = context.scripts else {
            throw HTTPError.notImplemented("this server runs no scripts")
        }
        let database = try context.database()
        let design = try DesignDocuments.document(context.parameter("design"), of: database)
        let path = context.parameter("what").split(separator: "/", maxSplits: 1).map(String.init)
        guard let name = path.first else { return try noFunction.answer(context) }
        try design.require("updates", name)
        let id = path.dropFirst().first
        let found = try id.flatMap { id in
            do { return try DocumentLookup(source: database).winner(DocumentID(unchecked: id)) } catch let error
                as HTTPError
                where error.status == 404
            { return nil }
        }
        let document = try found.map { found in
            var options = DocumentOptions()
            options.hasRevisions = true
            return try DocumentPrinter(source: database, options: options)
                .print(found.revision, found.content, of: found.record, hasMeta: false).text.bytes
        }
        let request = try ScriptRequestObject.json(context, id: id, body: context.body())
        let answers = try scripts.pool.run(.update(document, by: name, request: request.utf8, of: design.source))
        guard let parts = try answers.first.map({ try JSONValue(utf8: $0) })?.array, parts.count == 2,
            let members = parts[1].object
        else { throw HTTPError(500, "render_error", "undefined response from update function") }
        // All that can be wrong with the answer is found before something is written.
        let answer = try ScriptAnswer(members)
        if !answer.leftOut.isEmpty {
            context.options.log?.notice(
                "script",
                [
                    "database": context.parameter("db"),
                    "line":
                        "\(design.name)/_update/\(name): headers were left out: \(answer.leftOut.joined(separator: ", "))",
                ])
        }
        guard let made = parts[0].object else { return answer.response(nil) }
        // A function makes ids by `req.uuid`; a document without one is a mistake, as in CouchDB.
        guard made["_id"] != nil else { throw HTTPError.illegalID("Document id must not be empty") }
        var new = try WireDocument(parts[0].utf8, limit: context.largestDocument)
        let newID = try new.complete()
        let revision = try DocumentWriter(database, context).edit(new, id: newID)
        return answer.response((newID.string, revision))
    }
}
