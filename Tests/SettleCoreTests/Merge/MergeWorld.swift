import SettleCore
import SettleTesting

/// Random objects with concurrent edits, reproducible by a seed.
struct MergeWorld {
    private var random: SeededRandom
    let base: JSONObject
    private(set) var versions: [JSONObject] = []

    /// Creates a world in which each version changes a percentage of its members.
    private init(seed: UInt64, versions count: Int, changes: Int) {
        random = SeededRandom(seed: seed)
        base = Self.object(depth: 0, &random)
        for _ in 0..<count { versions.append(Self.edited(base, depth: 0, changes, &random)) }
    }

    /// Creates four worlds of one seed, from few clashes to many.
    static func worlds(seed: UInt64, versions: Int = 3) -> [MergeWorld] {
        (0..<4).map { MergeWorld(seed: SeededRandom.mix(seed) &+ $0, versions: versions, changes: 5 + Int($0) * 12) }
    }

    /// Numbers, strings, arrays with and without identities, and objects, under few names.
    private static func object(depth: Int, _ random: inout SeededRandom) -> JSONObject {
        var object = JSONObject()
        for name in ["a", "b", "c", "d", "e/f", "~"].shuffled(using: &random) where random.chance(60) {
            object[name] = value(depth: depth, &random)
        }
        if random.chance(80) { object["n"] = number(&random) }
        if random.chance(80) { object["t"] = set(&random) }
        if random.chance(80) { object["l"] = elements(depth: depth + 1, &random) }
        return object
    }

    private static func value(depth: Int, _ random: inout SeededRandom) -> JSONValue {
        switch Int.random(in: 0..<(depth < 3 ? 6 : 4), using: &random) {
        case 0: .null
        case 1: .bool(Bool.random(using: &random))
        case 2: .string(["x", "y\nz", "\u{E9}", "e\u{301}"].randomElement(using: &random) ?? "")
        case 3: number(&random)
        case 4: .array((0..<Int.random(in: 0...2, using: &random)).map { _ in value(depth: 3, &random) })
        default: .object(object(depth: depth + 1, &random))
        }
    }

    static func number(_ random: inout SeededRandom) -> JSONValue {
        let spellings = ["0", "-0", "1", "7", "-12", "0.1", "0.2", "1.0", "1e0", "-2.5e-3", "98765432109876543210"]
        return spellings.randomElement(using: &random).flatMap(JSONNumber.init(text:)).map(JSONValue.number) ?? 0
    }

    private static func set(_ random: inout SeededRandom) -> JSONValue {
        .array((0..<8).filter { _ in random.chance(40) }.map { .number(JSONNumber($0)) }.shuffled(using: &random))
    }

    private static func elements(depth: Int, _ random: inout SeededRandom) -> JSONValue {
        let identities = (0..<5).filter { _ in random.chance(50) }.shuffled(using: &random)
        return .array(
            identities.map { identity in
                var element: JSONValue = depth < 3 ? .object(object(depth: depth, &random)) : [:]
                element["id"] = .number(JSONNumber(identity))
                return element
            })
    }

    /// A copy with members changed, added, removed and moved.
    private static func edited(
        _ object: JSONObject, depth: Int, _ changes: Int, _ random: inout SeededRandom
    ) -> JSONObject {
        var edited = object
        for member in object where random.chance(changes) {
            switch member.value {
            case .object(let inner):
                edited[member.name] = .object(self.edited(inner, depth: depth + 1, changes, &random))
            case .array where member.name == "t": edited[member.name] = set(&random)
            case .array where member.name == "l": edited[member.name] = elements(depth: depth + 1, &random)
            case .number where member.name == "n": edited[member.name] = number(&random)
            default: edited[member.name] = value(depth: depth, &random)
            }
        }
        for name in object.names where random.chance(changes / 4) { edited[name] = nil }
        if random.chance(changes / 2) {
            edited[["f", "g"].randomElement(using: &random) ?? ""] = value(depth: depth, &random)
        }
        if random.chance(changes / 4) {
            edited = JSONObject(edited.map { ($0.name, $0.value) }.shuffled(using: &random))
        }
        return edited
    }

    /// Rules that fit some of the members.
    static let rules = MergeRules(attributes: [
        "/n": .sum, "/t": .union, "/l": .array(identifiedBy: "id"), "/l/n": .sum, "/a/n": .sum, "/b/t": .union,
        "/c": .lines,
    ])
}

extension JSONValue {
    /// The value with all members sorted by name, and floats in one spelling.
    var normalized: JSONValue {
        switch self {
        case .number(let number): number.isInteger ? self : JSONNumber(number.double).map(JSONValue.number) ?? self
        case .array(let elements): .array(elements.map(\.normalized))
        case .object(let members):
            .object(
                JSONObject(
                    members.map { ($0.name, $0.value.normalized) }
                        .sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }))
        default: self
        }
    }
}
