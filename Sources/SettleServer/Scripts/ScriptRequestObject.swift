internal import RevisionTree
internal import SettleDatabase

/// A request as filters and update functions see it, and who makes it.
enum ScriptRequestObject {
    /// Who makes a request, as functions of a database see them.
    static func user(_ user: User, of database: String) -> JSON {
        [
            "db": .string(database), "name": user.name.map { .string($0) } ?? .null,
            "roles": .array(user.roles.map { .string($0) }),
        ]
    }

    /// A request.
    ///
    /// - Parameters:
    ///   - context: The request.
    ///   - id: The document it is about.
    ///   - body: Its body.
    /// - Returns: What the function gets.
    /// - Throws: ``HTTPError``; ``DatabaseError``.
    static func json(_ context: RequestContext, id: String?, body: [UInt8]) throws -> JSON {
        let request = context.request
        let name = context.parameter("db")
        let database = try context.database()
        let path = JSON.array(request.target.segments.map { .string($0) })
        let query = request.target.query.map { item -> (String, JSON) in
            let isKey = ["key", "startkey", "start_key", "endkey", "end_key"].contains(item.name)
            let value = isKey ? try? JSON(parsing: item.value) : nil
            return (item.name, value ?? .string(item.value))
        }
        // What lets somebody in is nobody's business here.
        let headers = request.headers.fields.filter {
            !["authorization", "cookie", "x-auth-couchdb-token"].contains($0.name.lowercased())
        }
        let questionMark = request.target.query.isEmpty ? "" : "?"
        let rawQuery = request.target.query.map { PercentCoding.encode($0.name) + "=" + PercentCoding.encode($0.value) }
        return [
            "info": try DatabaseEndpoints.info(of: database, name, context.server),
            "uuid": .string(UUIDs.random()), "id": id.map { .string($0) } ?? .null, "method": .string(request.method),
            "requested_path": path, "path": path,
            "raw_path": .string(request.target.rawPath + questionMark + rawQuery.joined(separator: "&")),
            "query": .object(JSONObject(query)),
            "headers": .object(JSONObject(headers.map { ($0.name, .string($0.value)) })),
            "body": body.isEmpty ? "undefined" : .string(String(decoding: body, as: UTF8.self)),
            "peer": .string(request.peer), "form": form(request, body), "cookie": .object(JSONObject()),
            "userCtx": user(context.user, of: name), "secObj": try context.server.databases.security(of: name).json,
        ]
    }

    private static func form(_ request: HTTPRequest, _ body: [UInt8]) -> JSON {
        guard request.headers.bare("Content-Type") == "application/x-www-form-urlencoded" else {
            return .object(JSONObject())
        }
        let text = String(decoding: body, as: UTF8.self).replacing("+", with: "%20")
        return .object(JSONObject(RequestTarget("/?" + text).query.map { ($0.name, .string($0.value)) }))
    }
}
