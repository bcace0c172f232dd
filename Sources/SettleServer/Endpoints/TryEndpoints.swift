internal import SettleCore
internal import SettleDatabase
internal import SettleScripting

/// Functions tried on samples, before they are stored: an extension of ours.
enum TryEndpoints {
    /// `POST /{db}/_try`
    ///
    /// `{"functions":"stored"}` asks the rules in force about documents of one's own; other functions are for administrators of
    /// the database, who may store them anyway.
    static let attempt: Endpoint = .work { context in
        try context.requireContentType()
        let members = try context.jsonObject()
        try members.requireMembers(among: ["functions", "docs", "user"])
        guard let scripts = context.scripts else { throw HTTPError.notImplemented("this server runs no scripts") }
        let trial = Trial(context: context, database: try context.database(), scripts: scripts)
        let begin = ContinuousClock.now
        func told(_ samples: [Trial.Sample], _ others: [(String, JSONValue)]) -> HTTPResponse {
            let spent = (ContinuousClock.now - begin) / .milliseconds(1)
            return .json(
                .object(
                    JSONObject(
                        others + [
                            ("docs", .number(JSONNumber(samples.count))),
                            ("milliseconds", .number(JSONNumber(Int(spent)))),
                        ])))
        }
        if members["functions"] == "stored" {
            let samples = try trial.samples(members["docs"])
            return told(samples, [("results", try trial.validate(samples, by: nil, as: nil))])
        }
        guard let functions = members["functions"]?.object else {
            throw HTTPError.badRequest("`functions` must be \"stored\" or an object.")
        }
        try functions.requireMembers(among: ["map", "reduce", "validate_doc_update"])
        let security = try context.databases.security(of: context.parameter("db"))
        guard security.isAdmin(context.user) else { throw HTTPError.notAdmin(context.user) }
        let samples = try trial.samples(members["docs"])
        let texts = functions.compactMap { member in
            member.value.string.flatMap { $0.hasPrefix("_") ? nil : (kind: member.name, text: $0) }
        }
        let problems = try trial.problems(texts)
        guard problems.isEmpty else { return told(samples, [("rows", []), ("errors", .array(problems))]) }
        do {
            if let rule = functions["validate_doc_update"]?.string {
                return told(samples, [("results", try trial.validate(samples, by: rule, as: members["user"]))])
            }
            guard let map = functions["map"]?.string else {
                throw HTTPError.badRequest("`functions` has no `map` and no `validate_doc_update`.")
            }
            let (rows, reduced) = try trial.map(samples, by: map, reduce: functions["reduce"]?.string)
            let sum = reduced.map { [("reduced", JSONValue.array([["key": .null, "value": $0]]))] } ?? []
            return told(samples, [("rows", rows)] + sum + [("errors", [])])
        } catch let error as ScriptError {
            let failure: JSONValue = ["error": .string(error.name), "reason": .string(error.reason)]
            return told(samples, [("rows", []), ("errors", [failure])])
        }
    }
}
