import Foundation
import Settle
import SettleTesting

/// What a random document has at a place, and whether a model knows it.
indirect enum Shape: Sendable {
    case text, whole, real, decimal, flag, date, bytes, address
    /// A set of texts, a list of texts, and a table from names to whole numbers.
    case tags, lines, table
    /// An enumeration with associated values.
    case payment
    case object([ShapeMember])
    /// A list of objects; with an identity each has a member `id`.
    case objects([ShapeMember], hasIdentity: Bool)
}

/// A member of a shape.
struct ShapeMember: Sendable {
    var name: String
    var shape: Shape
    var isOptional: Bool
    /// Whether the models of two devices know it.
    var isKnown: [Bool]
}

/// A model of a random shape: it decodes the members that it knows, and encodes them, through the same coders as any model.
struct RandomModel: Codable, Equatable {
    /// The members that the model of the current task knows.
    @TaskLocal static var known: [ShapeMember] = []

    enum Value: Equatable {
        case text(String)
        case whole(Int)
        case real(Double)
        case decimal(Decimal)
        case flag(Bool)
        case date(Date)
        case bytes(Data)
        case address(URL)
        case tags(Set<String>)
        case lines([String])
        case table([String: Int])
        case payment(Payment)
        case object(RandomModel)
        case objects([RandomModel])
    }

    enum Payment: Codable, Equatable {
        case cash
        case card(brand: String, digits: Int)
    }

    struct Key: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// The values in the order of the shape; absent ones are `nil`.
    var values: [(name: String, value: Value?)] = []

    init() {}

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        for member in Self.known {
            let key = Key(stringValue: member.name)
            let isAbsent = try !container.contains(key) || container.decodeNil(forKey: key)
            if member.isOptional, isAbsent {
                values.append((member.name, nil))
                continue
            }
            values.append((member.name, try Self.value(member.shape, container, key)))
        }
    }

    private static func value(
        _ shape: Shape, _ container: KeyedDecodingContainer<Key>, _ key: Key
    ) throws -> Value {
        switch shape {
        case .text: .text(try container.decode(String.self, forKey: key))
        case .whole: .whole(try container.decode(Int.self, forKey: key))
        case .real: .real(try container.decode(Double.self, forKey: key))
        case .decimal: .decimal(try container.decode(Decimal.self, forKey: key))
        case .flag: .flag(try container.decode(Bool.self, forKey: key))
        case .date: .date(try container.decode(Date.self, forKey: key))
        case .bytes: .bytes(try container.decode(Data.self, forKey: key))
        case .address: .address(try container.decode(URL.self, forKey: key))
        case .tags: .tags(try container.decode(Set<String>.self, forKey: key))
        case .lines: .lines(try container.decode([String].self, forKey: key))
        case .table: .table(try container.decode([String: Int].self, forKey: key))
        case .payment: .payment(try container.decode(Payment.self, forKey: key))
        case .object(let inside):
            .object(try $known.withValue(inside) { try container.decode(RandomModel.self, forKey: key) })
        case .objects(let inside, _):
            .objects(try $known.withValue(inside) { try container.decode([RandomModel].self, forKey: key) })
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        for (name, value) in values {
            let key = Key(stringValue: name)
            switch value {
            case nil: break
            case .text(let value): try container.encode(value, forKey: key)
            case .whole(let value): try container.encode(value, forKey: key)
            case .real(let value): try container.encode(value, forKey: key)
            case .decimal(let value): try container.encode(value, forKey: key)
            case .flag(let value): try container.encode(value, forKey: key)
            case .date(let value): try container.encode(value, forKey: key)
            case .bytes(let value): try container.encode(value, forKey: key)
            case .address(let value): try container.encode(value, forKey: key)
            case .tags(let value): try container.encode(value, forKey: key)
            case .lines(let value): try container.encode(value, forKey: key)
            case .table(let value): try container.encode(value, forKey: key)
            case .payment(let value): try container.encode(value, forKey: key)
            case .object(let value): try container.encode(value, forKey: key)
            case .objects(let value): try container.encode(value, forKey: key)
            }
        }
    }

    subscript(name: String) -> Value? {
        get { values.first { $0.name == name }?.value }
        set { if let place = values.firstIndex(where: { $0.name == name }) { values[place].value = newValue } }
    }

    static func == (left: RandomModel, right: RandomModel) -> Bool {
        left.values.count == right.values.count
            && zip(left.values, right.values).allSatisfy { $0.name == $1.name && $0.value == $1.value }
    }
}

/// Random shapes, documents of them as many writers spell them, and edits.
struct ShapeWorld {
    var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

    mutating func members(depth: Int) -> [ShapeMember] {
        (0..<number(2..<(depth == 0 ? 9 : 5))).map { index in
            let first = chance(70)
            return ShapeMember(
                name: "m\(index)", shape: shape(depth: depth), isOptional: chance(30), isKnown: [first, chance(70)])
        }
    }

    private mutating func shape(depth: Int) -> Shape {
        switch number(0..<(depth < 3 ? 16 : 12)) {
        case 0: .text
        case 1: .whole
        case 2: .real
        case 3: .decimal
        case 4: .flag
        case 5: .date
        case 6: .bytes
        case 7: .address
        case 8: .tags
        case 9: .lines
        case 10: .table
        case 11: .payment
        case 12, 13: .object(members(depth: depth + 1))
        default: .objects(members(depth: depth + 1), hasIdentity: chance(50))
        }
    }

    /// What one of the devices knows of members, at every depth.
    static func known(_ members: [ShapeMember], by device: Int) -> [ShapeMember] {
        members.filter { $0.isKnown[device] }.map { member in
            var member = member
            switch member.shape {
            case .object(let inside): member.shape = .object(known(inside, by: device))
            case .objects(let inside, let hasIdentity):
                let id = ShapeMember(name: "id", shape: .whole, isOptional: false, isKnown: [true, true])
                let mark = ShapeMember(name: "mark", shape: .whole, isOptional: false, isKnown: [true, true])
                member.shape = .objects(
                    (hasIdentity ? [id] : [mark]) + known(inside, by: device), hasIdentity: hasIdentity)
            default: break
            }
            return member
        }
    }

    /// An object as some writer has spelled it.
    mutating func object(_ members: [ShapeMember]) -> JSONObject {
        var object = JSONObject()
        for member in members.shuffled(using: &random) where !(member.isOptional && chance(40)) {
            object[member.name] = value(member.shape)
        }
        return object
    }

    private mutating func spelled(_ texts: String...) -> JSONValue {
        let text = texts.randomElement(using: &random) ?? ""
        return (try? JSONValue(parsing: text)) ?? .null
    }

    mutating func value(_ shape: Shape) -> JSONValue {
        let n = number(1..<900)
        switch shape {
        case .text: return .string("t\(n)")
        case .whole: return spelled("\(n)", "\(n).0", "\(n)e0", "\(n)00e-2")
        case .real: return spelled("\(n).25", "\(n).250", "\(n)25e-2", "\(n)", "0.12345678901234567\(n)")
        case .decimal: return spelled("\(n).10", "\(n)", "\"\(n).5\"")
        case .flag: return .bool(chance(50))
        case .date:
            let day = "2026-0\(n % 9 + 1)-1\(n % 10)T0\(n % 8):00:00"
            return spelled("\"\(day)Z\"", "\"\(day).000Z\"", "\"\(day).123456Z\"", "\"\(day)+02:00\"")
        case .bytes: return chance(70) ? .string(Data("b\(n)".utf8).base64EncodedString()) : [1, 2, .init(n % 256)]
        case .address: return .string("https://example.com/\(n)")
        case .tags:
            var tags = (0..<number(0..<5)).map { JSONValue.string("g\($0)\(n)") }
            tags.shuffle(using: &random)
            if chance(10), let first = tags.first { tags.append(first) }
            return .array(tags)
        case .lines: return .array((0..<number(0..<4)).map { .string("l\($0 % 2)\(n)") })
        case .table:
            return .object(
                JSONObject((0..<number(0..<4)).map { ("k\($0)", spelled("\(n)", "\(n).0")) }.shuffled(using: &random)))
        case .payment:
            return chance(50)
                ? ["cash": [:]] : ["card": ["brand": .string("b\(n)"), "digits": .init(n), "extra": true]]
        case .object(let members):
            var inside = object(members)
            if chance(50) { inside["unknown"] = spelled("1e2", "[1.0, 2.00]", "{\"a\":1e0}") }
            return .object(inside)
        case .objects(let members, let hasIdentity):
            let elements = (0..<number(0..<5)).map { index -> JSONValue in
                var inside = object(members)
                if hasIdentity { inside["id"] = .init(n * 10 + index) } else { inside["mark"] = .init(n * 10 + index) }
                inside["unknown"] = .string("u\(n)\(index)")
                return .object(inside)
            }
            return .array(elements)
        }
    }

    /// Another value of a shape, as a model has it.
    mutating func other(_ shape: Shape) throws -> RandomModel.Value {
        let n = number(1000..<9000)
        return switch shape {
        case .text: .text("n\(n)")
        case .whole: .whole(n)
        case .real: .real(Double(n) + 0.5)
        case .decimal: .decimal(Decimal(n) / 8)
        case .flag: .flag(chance(50))
        case .date: .date(Date(timeIntervalSince1970: Double(n) * 1000.5))
        case .bytes: .bytes(Data("n\(n)".utf8))
        case .address: .address(try Self.url("https://example.org/\(n)"))
        case .tags: .tags(["n\(n)", "o\(n)"])
        case .lines: .lines(["n\(n)", "n\(n)", "m\(n)"])
        case .table: .table(["k0": n, "k9": n])
        case .payment: chance(50) ? .payment(.cash) : .payment(.card(brand: "n\(n)", digits: n))
        case .object(let members): .object(try model(members))
        // Which new elements of a list are which old ones is known by editing it, see `editList`.
        case .objects: .objects([])
        }
    }

    /// A new model that has all members.
    mutating func model(_ members: [ShapeMember]) throws -> RandomModel {
        var model = RandomModel()
        for member in members { model.values.append((member.name, try other(member.shape))) }
        return model
    }

    private static func url(_ text: String) throws -> URL {
        struct NotURL: Error {}
        guard let url = URL(string: text) else { throw NotURL() }
        return url
    }
}
