internal import SettleCore
internal import SettlePlatform

/// A value in Fleece, the binary form in which Couchbase Lite 2 and later store documents.
///
///     0x0000   44 6E 61 6D 65 00     the text "name"
///     0x0006   42 61 62 00           the text "ab"
///     0x000a   70 01 80 05 80 04     a dictionary of one member: pointers 5 and 4 times 2 bytes back
///     0x0010   80 03                 the root: 3 times 2 bytes back
///
/// A value comes before what points to it. Here that is a rule: each pointer of a container leads to a place before that container, so
/// there is no circle. Since many pointers may lead to one value, a short text can unfold to a very long one; ``json()`` limits that.
package struct Fleece {
    /// The base, if there is one, and the value.
    private let bytes: [UInt8]
    /// Where the value begins.
    private let start: Int
    private let sharedKeys: [String]

    /// How many values a document may have in addition to one for each byte.
    private static let spareValues = 4096
    /// How long the JSON of a document may be.
    private static let maximumText = 256 << 20

    /// Creates a value.
    ///
    /// - Parameters:
    ///   - bytes: The encoded value.
    ///   - base: The value to which external pointers lead.
    ///   - sharedKeys: The names of members that are encoded as numbers.
    package init(_ bytes: [UInt8], base: [UInt8] = [], sharedKeys: [String] = []) {
        self.bytes = base + bytes
        start = base.count
        self.sharedKeys = sharedKeys
    }

    /// The value as JSON in UTF-8.
    ///
    /// Data becomes text in base64, `undefined` is left out, and a number that is not finite becomes `null`.
    ///
    /// - Returns: The text, and whether a number was not finite.
    /// - Throws: ``FleeceError`` if the bytes are not a value, or unfold to too much.
    package func json() throws(FleeceError) -> (text: [UInt8], hasLostNumber: Bool) {
        var printer = FleecePrinter(
            values: bytes.count + Self.spareValues, text: min(Self.maximumText, max(1 << 20, bytes.count << 10)))
        try printer.print(root(), of: self)
        return (printer.text, printer.hasLostNumber)
    }

    // MARK: Places

    /// A value that is not a pointer.
    struct Place {
        /// Where it begins.
        let position: Int
        /// Where its bytes end at the latest.
        let end: Int
        /// What its pointers lead to begins before this.
        let bound: Int
    }

    private func root() throws(FleeceError) -> Place {
        guard bytes.count - start >= 2 else { throw FleeceError("it is too short") }
        return try place(at: bytes.count - 2, width: 2, bound: bytes.count - 2)
    }

    /// The value in a slot of a container, or to which the pointer there leads.
    private func place(at slot: Int, width: Int, bound: Int) throws(FleeceError) -> Place {
        guard bytes[slot] & 0x80 != 0 else { return Place(position: slot, end: slot + width, bound: bound) }
        var (slot, width, bound, end) = (slot, width, bound, bound)
        while bytes[slot] & 0x80 != 0 {
            guard slot + width <= bytes.count else { throw FleeceError("a pointer is cut off") }
            let number =
                bytes[slot..<slot + width].reduce(0) { $0 << 8 | Int($1) } & (width == 2 ? 0x3FFF : 0x3FFF_FFFF)
            let (target, isExternal) = (slot - 2 * number, bytes[slot] & 0x40 != 0)
            let (least, limit) = isExternal ? (0, min(bound, start)) : (slot < start ? 0 : start, bound)
            guard number > 0, target >= least, target < limit, !isExternal || slot >= start else {
                throw FleeceError("a pointer leads nowhere")
            }
            // A pointer to a pointer leads to a wide one.
            (slot, width, bound, end) = (target, 4, target, limit)
        }
        return Place(position: slot, end: end, bound: bound)
    }

    // MARK: Values

    /// A value, with places instead of the values of containers.
    enum Value {
        case null, undefined
        case bool(Bool)
        case int(Int64)
        case unsigned(UInt64)
        case float(Float)
        case double(Double)
        case text(ArraySlice<UInt8>)
        case data(ArraySlice<UInt8>)
        case array(Slots)
        case dictionary(Slots)
    }

    /// The slots of a container.
    struct Slots {
        let start: Int
        let width: Int
        let count: Int
        fileprivate let bound: Int
    }

    /// The value in a slot.
    func place(_ index: Int, of slots: Slots) throws(FleeceError) -> Place {
        try place(at: slots.start + index * slots.width, width: slots.width, bound: slots.bound)
    }

    /// The value at a place.
    func value(at place: Place) throws(FleeceError) -> Value {
        let (position, end) = (place.position, min(place.end, bytes.count))
        guard position + 2 <= end else { throw FleeceError("a value is cut off") }
        let (first, second) = (bytes[position], bytes[position + 1])
        switch first >> 4 {
        case 0: return .int(Int64(Int16(bitPattern: (UInt16(first) << 8 | UInt16(second)) << 4) >> 4))
        case 1: return try integer(at: position + 1, count: Int(first & 7) + 1, isUnsigned: first & 8 != 0, end)
        case 2 where first & 8 != 0: return .double(Double(bitPattern: try word(at: position + 2, count: 8, end)))
        case 2:
            let float = Float(bitPattern: UInt32(truncatingIfNeeded: try word(at: position + 2, count: 4, end)))
            // A double that a float can hold is written as one, with this mark.
            return first & 4 != 0 ? .double(Double(float)) : .float(float)
        case 3:
            switch first & 0xF {
            case 0: return .null
            case 4: return .bool(false)
            case 8: return .bool(true)
            case 12: return .undefined
            default: throw FleeceError("a value has no known kind")
            }
        case 4: return .text(try content(at: position, end))
        case 5: return .data(try content(at: position, end))
        case 6: return .array(try slots(at: place, end, each: 1))
        case 7: return .dictionary(try slots(at: place, end, each: 2))
        default: throw FleeceError("a value has no known kind")
        }
    }

    /// A number of bytes, the lowest first.
    private func word(at position: Int, count: Int, _ end: Int) throws(FleeceError) -> UInt64 {
        guard position + count <= end else { throw FleeceError("a number is cut off") }
        return bytes[position..<position + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    private func integer(at position: Int, count: Int, isUnsigned: Bool, _ end: Int) throws(FleeceError) -> Value {
        let word = try word(at: position, count: count, end)
        if isUnsigned { return .unsigned(word) }
        let unused = Int64(64 - 8 * count)
        return .int(Int64(bitPattern: word << UInt64(unused)) >> unused)
    }

    /// A number of variable length, and where it ends.
    private func variable(at position: Int, _ end: Int) throws(FleeceError) -> (number: Int, end: Int) {
        var place = position
        let number = bytes.withUnsafeBytes { all in
            VariableNumber.read(UnsafeRawBufferPointer(rebasing: all[..<end]), &place)
        }
        guard let number, number <= UInt64(bytes.count) else { throw FleeceError("a length is not valid") }
        return (Int(number), place)
    }

    private func content(at position: Int, _ end: Int) throws(FleeceError) -> ArraySlice<UInt8> {
        var (count, start) = (Int(bytes[position] & 0xF), position + 1)
        if count == 15 { (count, start) = try variable(at: start, end) }
        guard count <= end - start else { throw FleeceError("a text is cut off") }
        return bytes[start..<start + count]
    }

    private func slots(at place: Place, _ end: Int, each: Int) throws(FleeceError) -> Slots {
        let (first, second) = (bytes[place.position], bytes[place.position + 1])
        var (count, start) = (Int(first & 7) << 8 | Int(second), place.position + 2)
        if count == 2047 {
            let more = try variable(at: start, end)
            count += more.number
            start = more.end + (more.end - start) % 2
        }
        let width = first & 8 != 0 ? 4 : 2
        guard start <= end, count <= (end - start) / (width * each) else { throw FleeceError("a container is cut off") }
        return Slots(start: start, width: width, count: count * each, bound: place.bound)
    }

    // MARK: Members

    /// The number that stands for a dictionary's parent, whose members it has, too.
    private static let parentKey: Int64 = -2048

    /// The members of a dictionary.
    ///
    /// - Parameters:
    ///   - slots: The dictionary.
    ///   - budget: How many values may still be read.
    /// - Returns: The names, each with the place of its value.
    /// - Throws: ``FleeceError``.
    func members(
        of slots: Slots, budget: inout Int
    ) throws(FleeceError) -> [(name: String, place: Place)] {
        var (levels, next) = ([[(name: String, place: Place)]](), slots as Slots?)
        while let slots = next {
            next = nil
            budget -= slots.count
            guard budget >= 0 else { throw FleeceError("it has too many values") }
            var members: [(name: String, place: Place)] = []
            members.reserveCapacity(slots.count / 2)
            for index in stride(from: 0, to: slots.count, by: 2) {
                let place = try place(index + 1, of: slots)
                switch try value(at: self.place(index, of: slots)) {
                case .text(let name): members.append((try Self.string(name), place))
                case .int(Self.parentKey):
                    guard case .dictionary(let parent) = try value(at: place), parent.start < slots.start else {
                        throw FleeceError("a dictionary's parent is not a dictionary")
                    }
                    next = parent
                case .int(let number):
                    guard let index = Int(exactly: number), sharedKeys.indices.contains(index) else {
                        throw FleeceError("the shared key \(number) is missing")
                    }
                    members.append((sharedKeys[index], place))
                default: throw FleeceError("a key is not a text")
                }
            }
            levels.append(members)
        }
        guard levels.count > 1 else { return levels.first ?? [] }
        var (merged, positions) = ([(name: String, place: Place)](), [ExactText: Int]())
        for member in levels.reversed().joined() {
            if let position = positions[ExactText(member.name)] {
                merged[position] = member
            } else {
                positions[ExactText(member.name)] = merged.count
                merged.append(member)
            }
        }
        return merged
    }

    /// A text; it must be UTF-8.
    static func string(_ bytes: ArraySlice<UInt8>) throws(FleeceError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw FleeceError("a text is not UTF-8") }
        return text
    }
}

/// Why bytes are not a value in Fleece.
package struct FleeceError: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

// MARK: - FleecePrinter

/// Prints a value in Fleece as JSON, without recursion.
private struct FleecePrinter {
    /// A container that is being printed.
    private enum Frame {
        case array(Fleece.Slots, next: Int)
        case object([(name: String, place: Fleece.Place)], next: Int)
    }

    private(set) var text: [UInt8] = []
    private(set) var hasLostNumber = false
    private var frames: [Frame] = []
    /// How many values may still be read.
    private var budget: Int
    private let maximumText: Int

    init(values: Int, text: Int) { (budget, maximumText) = (values, text) }

    mutating func print(_ root: Fleece.Place, of fleece: Fleece) throws(FleeceError) {
        try append(fleece.value(at: root), of: fleece)
        while let frame = frames.last {
            switch frame {
            case .array(let slots, let next):
                guard next < slots.count else {
                    close("]")
                    continue
                }
                frames[frames.count - 1] = .array(slots, next: next + 1)
                if next > 0 { text.append(UInt8(ascii: ",")) }
                try append(fleece.value(at: fleece.place(next, of: slots)), of: fleece)
            case .object(let members, let next):
                guard next < members.count else {
                    close("}")
                    continue
                }
                frames[frames.count - 1] = .object(members, next: next + 1)
                let value = try fleece.value(at: members[next].place)
                if case .undefined = value { continue }
                if text.last != UInt8(ascii: "{") { text.append(UInt8(ascii: ",")) }
                JSONValue.append(members[next].name, to: &text)
                text.append(UInt8(ascii: ":"))
                try append(value, of: fleece)
            }
            guard text.count <= maximumText else { throw FleeceError("its text is too long") }
        }
    }

    private mutating func close(_ end: Unicode.Scalar) {
        text.append(UInt8(ascii: end))
        frames.removeLast()
    }

    private mutating func append(_ value: Fleece.Value, of fleece: Fleece) throws(FleeceError) {
        switch value {
        case .null, .undefined: text += "null".utf8
        case .bool(let value): text += (value ? "true" : "false").utf8
        case .int(let value): text += String(value).utf8
        case .unsigned(let value): text += String(value).utf8
        case .float(let value): append(Double(value.description) ?? .nan)
        case .double(let value): append(value)
        case .text(let bytes): JSONValue.append(try Fleece.string(bytes), to: &text)
        case .data(let bytes): JSONValue.append(Base64.encode(Array(bytes)), to: &text)
        case .array(let slots):
            budget -= slots.count
            try open("[", .array(slots, next: 0))
        case .dictionary(let slots): try open("{", .object(fleece.members(of: slots, budget: &budget), next: 0))
        }
    }

    /// Appends a number in its shortest spelling.
    private mutating func append(_ value: Double) {
        let number = JSONNumber(value)
        if number == nil { hasLostNumber = true }
        text += (number?.text ?? "null").utf8
    }

    private mutating func open(_ start: Unicode.Scalar, _ frame: Frame) throws(FleeceError) {
        guard budget >= 0 else { throw FleeceError("it has too many values") }
        guard frames.count < JSONLimits.depth else { throw FleeceError("it is nested too deep") }
        text.append(UInt8(ascii: start))
        frames.append(frame)
    }
}
