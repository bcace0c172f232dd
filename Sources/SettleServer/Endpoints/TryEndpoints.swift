internal import SettleCore
internal import SettleDatabase

/// Functions tried on samples, before they are stored: an extension of ours.
enum TryEndpoints {
    /// How long a search for samples may take.
    private static let patience = Duration.seconds(2)

    /// `POST /{db}/_try`
    ///
    /// `{"functions":"stored"}` asks the rules in force about documents of one's own; other functions are for administrators of
    /// the database, who may store them anyway.
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

    /// What the rules in force say of documents that the user of the request would write.
    private static func stored(_ context: RequestContext, _ samples: [TrialSamples.Sample]) throws -> JSONValue {
        let questions = samples.map { ValidationScripts.Question(new: $0.text, old: $0.old) }
        let refusals = try ValidationScripts(context).refusals(of: questions)
        return .array(
            zip(samples, refusals).map { sample, refusal in
                Trial.verdict(.string(sample.id), refusal)
            })
    }
}
