package import SettleCore

extension MangoSelector {
    /// The selector in CouchDB's normal form, as `_explain` shows it and the definition of an index keeps it.
    ///
    ///     {"age": {"$gt": 1, "$lt": 9}}   →   {"$and": [{"age": {"$gt": 1}}, {"age": {"$lt": 9}}]}
    package var normal: JSONValue { root.map(Self.json) ?? .object(JSONObject()) }

    static func json(_ node: SelectorNode) -> JSONValue {
        switch node {
        case .all(let nodes): ["$and": .array(nodes.map(json))]
        case .any(let nodes): ["$or": .array(nodes.map(json))]
        case .none(let nodes): ["$nor": .array(nodes.map(json))]
        case .not(let node): ["$not": json(node)]
        case .member(let name, let node): .object(JSONObject([(name, json(node))]))
        case .at(let path, let node): .object(JSONObject([(path.spelling, json(node))]))
        case .each(let quantifier, let node): .object(JSONObject([(quantifier.rawValue, json(node))]))
        case .text(let search): ["$default": ["$text": search]]
        case .misplaced(let argument): ["$default": argument]
        case .test(let test): json(test)
        }
    }

    private static func json(_ test: SelectorTest) -> JSONValue {
        switch test {
        case .compare(let comparison, let value): .object(JSONObject([(comparison.rawValue, value)]))
        case .contained(let values, isIn: true): ["$in": .array(values)]
        case .contained(let values, isIn: false): ["$nin": .array(values)]
        case .exists(let flag): ["$exists": .bool(flag)]
        case .type(let name): ["$type": .string(name)]
        case .remainder(let divisor, let rest): ["$mod": [.number(JSONNumber(divisor)), .number(rest)]]
        case .pattern(let pattern): ["$regex": .string(pattern.text)]
        case .contains(let values): ["$all": .array(values)]
        case .size(let size): ["$size": .number(JSONNumber(size ?? .max))]
        case .prefix(let prefix): ["$beginsWith": .string(prefix)]
        }
    }
}
