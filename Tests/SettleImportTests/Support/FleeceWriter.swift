import SettleCore
import SettlePlatform
import SettleTesting

/// Writes values in Fleece, for tests: children before their containers, and pointers back to them.
struct FleeceWriter {
    private(set) var bytes: [UInt8] = []
    private var sharedKeys: [String: Int] = [:]
    /// Whether containers have slots of four bytes, as large documents have.
    private let isWide: Bool
    private var written: [[UInt8]: Int] = [:]

    init(sharedKeys: [String] = [], isWide: Bool = false) {
        for (index, key) in sharedKeys.enumerated() { self.sharedKeys[key] = index }
        self.isWide = isWide
    }

    /// The bytes of a value.
    static func write(_ value: JSONValue, sharedKeys: [String] = [], isWide: Bool = false) -> [UInt8] {
        var writer = FleeceWriter(sharedKeys: sharedKeys, isWide: isWide)
        writer.finish(writer.slot(value))
        return writer.bytes
    }

    /// What stands in a slot: the bytes of a small value, or where a large one is.
    private enum Slot {
        case inline([UInt8])
        case at(Int)
    }

    private mutating func finish(_ root: Slot) {
        switch root {
        case .inline(let value): bytes += value.prefix(2)
        case .at(let position):
            let distance = (bytes.count - position) / 2
            if distance < 1 << 14 {
                bytes += pointer(distance, isWide: false)
            } else {
                bytes += pointer(distance, isWide: true)
                bytes += pointer(2, isWide: false)
            }
        }
    }

    private func pointer(_ distance: Int, isWide: Bool) -> [UInt8] {
        let count = isWide ? 4 : 2
        var bytes = (0..<count).reversed().map { UInt8(truncatingIfNeeded: distance >> (8 * $0)) }
        bytes[0] |= 0x80
        return bytes
    }

    private mutating func store(_ value: [UInt8]) -> Slot {
        if value.count <= 2 { return .inline(value) }
        if let position = written[value] { return .at(position) }
        written[value] = bytes.count
        defer {
            bytes += value
            if !bytes.count.isMultiple(of: 2) { bytes.append(0) }
        }
        return .at(bytes.count)
    }

    private mutating func slot(_ value: JSONValue) -> Slot {
        switch value {
        case .null: return .inline([0x30, 0])
        case .bool(let value): return .inline([value ? 0x38 : 0x34, 0])
        case .string(let text): return store(Self.content(4, Array(text.utf8)))
        case .number(let number): return store(Self.number(number))
        case .array(let elements):
            return container(6, elements.map { slot($0) }, count: elements.count)
        case .object(let members):
            var slots: [Slot] = []
            for member in members {
                slots.append(key(member.name))
                slots.append(slot(member.value))
            }
            return container(7, slots, count: members.count)
        }
    }

    private mutating func key(_ name: String) -> Slot {
        if let index = sharedKeys[name] { return .inline([UInt8(index >> 8), UInt8(index & 255)]) }
        return store(Self.content(4, Array(name.utf8)))
    }

    private static func content(_ tag: UInt8, _ bytes: [UInt8]) -> [UInt8] {
        if bytes.count < 15 { return [tag << 4 | UInt8(bytes.count)] + bytes }
        var value = [tag << 4 | 15]
        VariableNumber.append(bytes.count, to: &value)
        return value + bytes
    }

    /// Data, which JSON has as text in base64.
    static func data(_ bytes: [UInt8]) -> [UInt8] { content(5, bytes) }

    private static func number(_ number: JSONNumber) -> [UInt8] {
        if number.isInteger, let value = UInt64(number.text), value > UInt64(Int64.max) {
            return [0x1F] + (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        if let value = number.int {
            if (-2048...2047).contains(value) { return [UInt8(value >> 8 & 0xF), UInt8(value & 255)] }
            var count = 8
            while count > 1, value >> (8 * (count - 1) - 1) == (value < 0 ? -1 : 0) { count -= 1 }
            return [0x10 | UInt8(count - 1)] + (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        let bits = number.double.bitPattern
        return [0x28, 0] + (0..<8).map { UInt8(truncatingIfNeeded: bits >> (8 * UInt64($0))) }
    }

    private mutating func container(_ tag: UInt8, _ slots: [Slot], count: Int) -> Slot {
        var header: [UInt8]
        if count < 2047 {
            header = [tag << 4 | UInt8(count >> 8), UInt8(count & 255)]
        } else {
            header = [tag << 4 | 7, 255]
            VariableNumber.append(count - 2047, to: &header)
            if !header.count.isMultiple(of: 2) { header.append(0) }
        }
        let start = bytes.count
        // A pointer from the last slot must reach the first child.
        let isWide = isWide || start + header.count + 2 * slots.count >= 1 << 15
        if isWide { header[0] |= 8 }
        if slots.isEmpty { return .inline(Array(header.prefix(2))) }
        bytes += header
        for slot in slots {
            switch slot {
            case .inline(let value): bytes += value + [UInt8](repeating: 0, count: (isWide ? 4 : 2) - value.count)
            case .at(let position): bytes += pointer((bytes.count - position) / 2, isWide: isWide)
            }
        }
        return .at(start)
    }
}

/// Random JSON.
extension SeededRandom {
    /// A text.
    mutating func text() -> String {
        let pieces = ["a", "Z", "0", " ", "é", "😄", "\"", "\\", "\u{1}", "name", "a longer piece of text", "~", "/"]
        return (0..<below(5)).map { _ in pieces[below(pieces.count)] }.joined()
    }

    /// A value that is nested no deeper than a number of levels.
    mutating func value(depth: Int) -> JSONValue {
        switch below(depth > 0 ? 10 : 7) {
        case 0: return .null
        case 1: return .bool(below(2) == 0)
        case 2: return .number(JSONNumber(below(5000) - 2500))
        case 3: return .number(JSONNumber(Int(truncatingIfNeeded: next()) >> below(64)))
        case 4: return JSONNumber(Double(below(100_000)) / 64 - 300).map { .number($0) } ?? .null
        case 5, 6: return .string(text())
        case 7: return .array((0..<below(6)).map { _ in value(depth: depth - 1) })
        default: return object(depth: depth - 1)
        }
    }

    /// An object whose names differ.
    mutating func object(depth: Int) -> JSONValue {
        .object(JSONObject((0..<below(8)).map { ("\($0)\(text())", value(depth: depth)) }))
    }
}
