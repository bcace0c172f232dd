internal import Settle

/// Reads lists of members where the command line has them: `age,-name`, or as JSON.
enum MemberList {
    /// The paths of an option: with commas between, or a JSON array where a path has commas.
    static func paths(_ option: String, _ arguments: Arguments) throws -> [JSON]? {
        guard let text = arguments.text(option) else { return nil }
        if let list = try array(option, text) { return list }
        return try parts(option, text).map { .string($0) }
    }

    /// What to sort by: paths with commas between, each with a minus before it for the greatest first; or CouchDB's JSON.
    ///
    /// - Throws: ``CommandError`` with status `usage` for several directions, which no index can serve.
    static func sort(_ option: String, _ arguments: Arguments) throws -> [JSON]? {
        guard let text = arguments.text(option) else { return nil }
        if let list = try array(option, text) { return list }
        let paths = try parts(option, text)
        let downwards = paths.filter { $0.hasPrefix("-") }
        guard downwards.isEmpty || downwards.count == paths.count else {
            throw CommandError.usage(
                "\(option) takes one direction: all of the members with a minus before them, or none", verb: "find")
        }
        return paths.map { $0.hasPrefix("-") ? .object(JSONObject([(String($0.dropFirst()), "desc")])) : .string($0) }
    }

    private static func parts(_ option: String, _ text: String) throws -> [String] {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { part in
            String(part.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
        }
        guard !parts.contains("") && !parts.contains("-") else {
            throw CommandError.usage("\(option) takes paths with commas between: age,address.city", verb: "find")
        }
        return parts
    }

    private static func array(_ option: String, _ text: String) throws -> [JSON]? {
        guard text.first(where: { !$0.isWhitespace }) == "[" else { return nil }
        if let list = (try? JSON(parsing: text))?.array { return list }
        throw CommandError.usage("what \(option) was given begins like JSON, but is no array of it", verb: "find")
    }
}
