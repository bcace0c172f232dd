internal import Settle

/// A hint for a query that found nothing: a member that it compares with a single value is a list.
struct ListHint {
    /// How many documents are looked at.
    private static let sample = 1000

    private let conditions: [FindConditions.Condition]

    init(_ selector: JSONValue) {
        conditions = FindConditions(selector).all.filter {
            $0.name == "$eq" && $0.path != "_id" && $0.argument.array == nil && $0.argument.object == nil
        }
    }

    /// Writes the hint to standard error, if one of the first documents has a list there.
    func give(_ client: Client, _ console: Console) throws {
        if conditions.isEmpty { return }
        var found: FindConditions.Condition?
        let request: JSONObject = [
            "selector": [:], "limit": .number(JSONNumber(Self.sample)),
            "fields": .array(conditions.compactMap(\.path).map { .string($0) }),
        ]
        _ = try client.find(request) { text in
            let document = try JSONValue(utf8: text)
            found = conditions.first { FieldPath.value($0.path ?? "", of: document)?.array != nil }
            return found == nil
        }
        guard let found, let path = found.path else { return }
        let text = "\(path) is a list: say \(path) contains \(found.argument)"
        console.complain("settle: \(text)", json: ["warning": .string(text)])
    }
}
