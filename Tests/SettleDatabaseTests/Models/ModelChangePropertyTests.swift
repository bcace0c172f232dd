import Foundation
import Settle
import SettleCore
import SettleDatabase
import SettleTesting
import Testing

/// Random documents that random models know in part, and random edits: what nobody changed keeps its bytes, and what somebody changed
/// arrives.
///
/// `SETTLE_MODEL_SEEDS` is the number of seeds, `SETTLE_MODEL_SEED` the first one.
@Suite(.timeLimit(.minutes(10)))
struct ModelChangePropertyTests {
    private static let first = UInt64(ProcessInfo.processInfo.environment["SETTLE_MODEL_SEED"] ?? "") ?? 1
    private static let count = UInt64(ProcessInfo.processInfo.environment["SETTLE_MODEL_SEEDS"] ?? "") ?? 10_000

    /// Changes some members of a model, and the same ones in the JSON that is stored, which is what is expected.
    private static func edit(
        _ model: inout RandomModel, _ expected: inout JSONObject, _ members: [ShapeMember], _ world: inout ShapeWorld,
        at path: String = "", _ changed: inout Set<String>, percent: Int = 25
    ) throws {
        for member in members {
            let place = path + "/" + member.name
            switch (member.shape, model[member.name]) {
            case (.object(let inside), .object(var nested)?) where world.chance(60):
                guard var object = expected[member.name]?.object else { continue }
                try edit(&nested, &object, inside, &world, at: place, &changed)
                model[member.name] = .object(nested)
                expected[member.name] = .object(object)
            case (.objects(let inside, let hasIdentity), .objects(var elements)?) where world.chance(40):
                guard var array = expected[member.name]?.array else { continue }
                let before = array
                try editList(&elements, &array, inside, hasIdentity: hasIdentity, &world)
                model[member.name] = .objects(elements)
                expected[member.name] = .array(array)
                if array != before { changed.insert(place) }
            case (.tags, .tags(var tags)?) where world.chance(20):
                let tag = "x\(world.number(0..<99))"
                tags.insert(tag)
                model[member.name] = .tags(tags)
                expected[member.name] = .array(tags.sorted().map(JSONValue.string))
                changed.insert(place)
            default:
                guard world.chance(percent) else { continue }
                let value = member.isOptional && world.chance(30) ? nil : try world.other(member.shape)
                if value == model[member.name] { continue }
                let old = model[member.name]
                model[member.name] = value
                let json = try value.map { try encoded($0, member.name) } ?? nil
                // Parts of a whole value that are replaced follow the same rules inside.
                expected[member.name] = try replaced(expected[member.name], old, json, member)
                changed.insert(place)
            }
        }
    }

    /// What replacing a whole object or table leaves: members that the model does not know stay.
    private static func replaced(
        _ stored: JSONValue?, _ old: RandomModel.Value?, _ new: JSONValue?, _ member: ShapeMember
    ) throws -> JSONValue? {
        guard let new, let old, case .object(let stored)? = stored, case .object(let after) = new,
            case .object(let before)? = try encoded(old, member.name)
        else { return new }
        var result = stored
        for part in after {
            if let was = before[part.name], was.hasSameMeaning(as: part.value) { continue }
            if let kept = stored[part.name], kept.hasSameMeaning(as: part.value) { continue }
            if let kept = stored[part.name], kept.object != nil, part.value.object != nil, before[part.name] != nil {
                result[part.name] = try replacedInside(kept, before[part.name], part.value)
            } else {
                result[part.name] = part.value
            }
        }
        for part in before where after[part.name] == nil { result[part.name] = nil }
        return .object(result)
    }

    private static func replacedInside(
        _ stored: JSONValue, _ before: JSONValue?, _ after: JSONValue
    ) throws -> JSONValue {
        guard var result = stored.object, let before = before?.object, let after = after.object else { return after }
        for part in after where !(before[part.name]?.hasSameMeaning(as: part.value) ?? false) {
            if let kept = stored[part.name], kept.hasSameMeaning(as: part.value) { continue }
            if let kept = stored[part.name], kept.object != nil, part.value.object != nil, let was = before[part.name] {
                result[part.name] = try replacedInside(kept, was, part.value)
            } else {
                result[part.name] = part.value
            }
        }
        for part in before where after[part.name] == nil { result[part.name] = nil }
        return .object(result)
    }

    private static func encoded(_ value: RandomModel.Value, _ name: String) throws -> JSONValue? {
        var model = RandomModel()
        model.values = [(name, value)]
        return try JSONValue(encoding: model)[name]
    }

    private static func editList(
        _ elements: inout [RandomModel], _ array: inout [JSONValue], _ inside: [ShapeMember], hasIdentity: Bool,
        _ world: inout ShapeWorld
    ) throws {
        guard elements.count == array.count else { return }
        let count = elements.count
        if !elements.isEmpty, world.chance(60) {
            let place = world.number(0..<elements.count)
            guard var object = array[place].object else { return }
            var ignored: Set<String> = []
            // The identity, or what tells elements apart, stays.
            try edit(&elements[place], &object, inside.filter { !["id", "mark"].contains($0.name) }, &world, &ignored)
            array[place] = .object(object)
        }
        if !elements.isEmpty, world.chance(25) {
            let place = world.number(0..<elements.count)
            elements.remove(at: place)
            array.remove(at: place)
        }
        // Without an identity an element that takes the place of another one is that element, changed.
        if world.chance(30), hasIdentity || elements.count == count {
            let new = try world.model(inside)
            let place = world.number(0..<(elements.count + 1))
            elements.insert(new, at: place)
            array.insert(try JSONValue(encoding: new), at: place)
        }
    }

    /// One seed: an edit by one device, then by two devices apart, and the merge.
    private static func run(_ seed: UInt64) throws -> String? {
        var world = ShapeWorld(seed: seed)
        let members = world.members(depth: 0)
        let stored = world.object(members)
        let base = Document(id: "d", body: try DocumentBody(.object(stored)))
        var edits: [(document: Document, changed: Set<String>)] = []
        for device in 0...1 {
            let known = ShapeWorld.known(members, by: device)
            var (document, expected, changed) = (base, stored, Set<String>())
            let unread = try? RandomModel.$known.withValue(known, operation: { try base.decode(RandomModel.self) })
            if unread == nil { return nil }
            try RandomModel.$known.withValue(known) {
                try document.update(as: RandomModel.self) { try edit(&$0, &expected, known, &world, &changed) }
            }
            let result = document.json.object ?? [:]
            if let complaint = difference(result, expected, at: "") {
                return
                    "seed \(seed), device \(device): \(complaint)\nstored   \(base.json)\nexpected \(JSONValue.object(expected))\nresult   \(document.json)"
            }
            // The same again changes nothing.
            let again = document
            try RandomModel.$known.withValue(known) { try document.update(as: RandomModel.self) { $0 = $0 } }
            if document != again { return "seed \(seed): an update without a change wrote" }
            edits.append((document, changed))
        }
        let versions = edits.map { $0.document.json.object ?? [:] }
        let outcome = ThreeWayMerge.merge(base: stored, versions: versions)
        let merged = outcome.merged ?? [:]
        for (device, edit) in edits.enumerated() {
            for path in edit.changed where !edits[1 - device].changed.contains(where: { touches($0, path) }) {
                let (want, got) = (value(versions[device], path), value(merged, path))
                if want?.description != got?.description {
                    return "seed \(seed): \(path) of device \(device) did not arrive: \(want as Any), \(got as Any)"
                }
            }
        }
        for path in leaves(stored) where !edits.contains(where: { $0.changed.contains { touches($0, path) } }) {
            if value(stored, path)?.description != value(merged, path)?.description {
                return
                    "seed \(seed): \(path), which nobody changed, was \(value(stored, path) as Any) and is \(value(merged, path) as Any)"
            }
        }
        return nil
    }

    /// Whether one path is inside the other.
    private static func touches(_ left: String, _ right: String) -> Bool {
        left == right || left.hasPrefix(right + "/") || right.hasPrefix(left + "/")
    }

    private static func value(_ object: JSONObject, _ path: String) -> JSONValue? {
        path.split(separator: "/").reduce(JSONValue.object(object) as JSONValue?) { $0?[String($1)] }
    }

    private static func leaves(_ object: JSONObject, at path: String = "") -> [String] {
        object.flatMap { member -> [String] in
            let place = path + "/" + member.name
            guard let inside = member.value.object, !inside.isEmpty else { return [place] }
            return leaves(inside, at: place)
        }
    }

    /// The first difference in bytes; the order of new members is not compared.
    private static func difference(_ result: JSONObject, _ expected: JSONObject, at path: String) -> String? {
        if Set(result.names) != Set(expected.names) { return "members at \(path): \(result.names), \(expected.names)" }
        for member in result {
            guard let other = expected[member.name] else { continue }
            if let complaint = difference(member.value, other, at: path + "/" + member.name) { return complaint }
        }
        return nil
    }

    private static func difference(_ result: JSONValue, _ expected: JSONValue, at path: String) -> String? {
        if let left = result.object, let right = expected.object { return difference(left, right, at: path) }
        if let left = result.array, let right = expected.array, left.count == right.count {
            return zip(left, right).enumerated().lazy.compactMap { difference($1.0, $1.1, at: "\(path)/\($0)") }.first
        }
        return result.description == expected.description ? nil : "\(path) is \(result) and not \(expected)"
    }

    // SEMANTICS 157, 161, 162
    @Test func `an edit through a model changes what it changes and nothing else, and merges with another one`() throws
    {
        var complaints: [String] = []
        for seed in Self.first..<(Self.first + Self.count) {
            if let complaint = try Self.run(seed) { complaints.append(complaint) }
            if complaints.count > 3 { break }
        }
        #expect(complaints.isEmpty, "\(complaints.joined(separator: "\n\n"))")
    }
}
