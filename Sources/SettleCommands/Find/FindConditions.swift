internal import Settle

/// The conditions of a selector that must all hold.
struct FindConditions {
    /// A condition: on a member, or a nested one without a single path.
    struct Condition {
        let path: String?
        /// CouchDB's operator; empty for a nested one.
        let name: String
        let argument: JSONValue

        private static let signs = ["$eq": "=", "$ne": "!=", "$lt": "<", "$lte": "<=", "$gt": ">", "$gte": ">="]

        /// The condition as a plain expression.
        var text: String {
            guard let path else { return argument.description }
            return "\(path) \(Self.signs[name] ?? name) \(argument)"
        }
    }

    private static let narrowing: Set<String> = ["$eq", "$lt", "$lte", "$gt", "$gte", "$beginsWith"]

    let all: [Condition]

    /// The conditions of a selector, in normal form or any other.
    init(_ selector: JSONValue) { all = Self.conditions(selector) }

    /// The conditions that an index of some members narrows by, and those that remain to be checked.
    func split(by columns: [String]) -> (narrowing: [Condition], checked: [Condition]) {
        var open: Set<String> = []
        for column in columns {
            open.insert(column)
            guard all.contains(where: { $0.path == column && $0.name == "$eq" }) else { break }
        }
        func isNarrowing(_ condition: Condition) -> Bool {
            guard let path = condition.path else { return false }
            if condition.name == "$exists" { return condition.argument == true && columns.contains(path) }
            return open.contains(path) && Self.narrowing.contains(condition.name)
        }
        return (all.filter(isNarrowing), all.filter { !isNarrowing($0) })
    }

    /// The members of an index for these conditions and an order: those compared for equality, then those sorted by, or
    /// else one with a range.
    func columns(sortedBy sort: [String]) -> [String] {
        let equal = all.filter { $0.name == "$eq" }.compactMap(\.path)
        let ranged = all.first { $0.name != "$eq" && $0.path != "_id" && Self.narrowing.contains($0.name) }?.path
        var columns: [String] = []
        for path in equal.filter({ !sort.contains($0) }) + (sort.isEmpty ? [ranged].compactMap(\.self) : sort)
        where path != "_id" && !columns.contains(path) { columns.append(path) }
        return columns
    }

    private static func conditions(_ selector: JSONValue) -> [Condition] {
        (selector.object ?? JSONObject()).flatMap { member -> [Condition] in
            if member.name == "$and", let list = member.value.array { return list.flatMap(conditions) }
            guard !member.name.hasPrefix("$") else {
                return [Condition(path: nil, name: "", argument: .object(JSONObject([(member.name, member.value)])))]
            }
            guard let tests = member.value.object, let first = tests.first else {
                return [Condition(path: member.name, name: "$eq", argument: member.value)]
            }
            guard first.name.hasPrefix("$") else {
                // {"a": {"b": 1}} is a condition on a.b.
                return tests.flatMap { conditions(.object(JSONObject([("\(member.name).\($0.name)", $0.value)]))) }
            }
            return tests.map { Condition(path: member.name, name: $0.name, argument: $0.value) }
        }
    }
}
