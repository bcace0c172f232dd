package import SettleCore
package import SettleDatabase

/// Effects of settlements, as the server and the tool print them.
///
///     {"outcome":"merges","words":"merges 2 leaves, 1 clash","base_known":true,
///      "rows":[{"path":"/count","base":1,"values":[{"leaves":["2-b…"],"value":2},{"leaves":["2-a…"],"value":3}],
///               "result":4,"from":["2-b…","2-a…"],"reason":"clash, decided by the rule “sum”","clash":true,
///               "left":false,"picked":false}],"row_count":1,
///      "lost":[{"rev":"2-a…","path":"/name","kind":"value","value":"Milk"}],"lost_count":1}
///
/// A missing value is left out, because `null` is a value. A value for which there is no room is left out, too, and
/// named in `omitted`.
extension SettlementJSON {
    /// The bytes that rows and losses of one effect may have.
    package static let effectBytes = 16 << 20
    /// The bytes of a row or a loss besides its values and paths.
    private static let rowBytes = 160
    private static let revisionBytes = 40

    /// An effect with its rows and losses.
    ///
    /// - Parameters:
    ///   - effect: The effect.
    ///   - left: The room that is left, in bytes. Rows and losses beyond it are only counted.
    /// - Returns: The effect.
    package static func effect(_ effect: SettlementEffect, within left: inout Int) -> JSONValue {
        var answer = outcome(effect.outcome)
        answer["words"] = .string(effect.words)
        answer["base_known"] = .bool(effect.isBaseKnown)
        // What is lost comes first, because it must not be hidden by long rows.
        var lost: [JSONValue] = []
        for loss in effect.losses where left > 0 { lost.append(self.loss(loss, &left)) }
        var rows: [JSONValue] = []
        for row in effect.rows where left > 0 { rows.append(self.row(row, &left)) }
        answer["rows"] = .array(rows)
        answer["row_count"] = .number(JSONNumber(effect.rowCount))
        answer["lost"] = .array(lost)
        answer["lost_count"] = .number(JSONNumber(effect.lossCount))
        return .object(answer)
    }

    /// An effect without rows and losses, as lists of many documents have it.
    package static func summary(_ effect: SettlementEffect) -> JSONValue {
        var answer = outcome(effect.outcome)
        answer["lost_count"] = .number(JSONNumber(effect.lossCount))
        return .object(answer)
    }

    /// An outcome: `keeps` with the leaf, `merges`, `deletes` or `leaves`.
    package static func outcome(_ outcome: SettlementEffect.Outcome) -> JSONObject {
        switch outcome {
        case .keeps(let leaf): ["outcome": "keeps", "keeps": revision(leaf)]
        case .merges: ["outcome": "merges"]
        case .deletes: ["outcome": "deletes"]
        case .leaves: ["outcome": "leaves"]
        }
    }

    private static func row(_ row: SettlementEffect.Row, _ left: inout Int) -> JSONValue {
        left -= rowBytes + row.path.utf8.count + row.reason.utf8.count + revisionBytes * row.sources.count
        var members: JSONObject = ["path": .string(row.path)]
        put(row.base, as: "base", in: &members, &left)
        var values: [JSONValue] = []
        for group in row.values {
            left -= revisionBytes * group.leaves.count
            var value: JSONObject = ["leaves": .array(group.leaves.map(revision))]
            put(group.value, as: "value", in: &value, &left)
            values.append(.object(value))
        }
        members["values"] = .array(values)
        put(row.result, as: "result", in: &members, &left)
        members["from"] = .array(row.sources.map(revision))
        members["reason"] = .string(row.reason)
        members["clash"] = .bool(row.isClash)
        members["left"] = .bool(row.isLeft)
        members["picked"] = .bool(row.isPicked)
        return .object(members)
    }

    private static func loss(_ loss: SettlementEffect.Loss, _ left: inout Int) -> JSONValue {
        left -= rowBytes + loss.path.utf8.count
        var members: JSONObject = [
            "rev": revision(loss.leaf), "path": .string(loss.path), "kind": .string(loss.kind.rawValue),
        ]
        put(loss.value, as: "value", in: &members, &left)
        return .object(members)
    }

    /// Adds a value, or its name to those that are left out.
    private static func put(_ value: JSONValue?, as name: String, in row: inout JSONObject, _ left: inout Int) {
        guard let value else { return }
        let size = left > 0 ? bytes(of: value) : .max
        guard size <= left else {
            row["omitted"] = .array((row["omitted"]?.array ?? []) + [.string(name)])
            return
        }
        left -= size
        row[name] = value
    }

    /// About the bytes of a value as text, without writing it.
    private static func bytes(of value: JSONValue) -> Int {
        switch value {
        case .null, .bool: 5
        case .number(let number): number.text.utf8.count + 1
        case .string(let text): text.utf8.count + 3
        case .array(let elements): elements.reduce(2) { $0 + bytes(of: $1) }
        case .object(let members): members.reduce(2) { $0 + $1.name.utf8.count + 4 + bytes(of: $1.value) }
        }
    }
}
