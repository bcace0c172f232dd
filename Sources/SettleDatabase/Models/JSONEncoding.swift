internal import SettleCore
internal import SettleQuery

/// The encoder for ``JSONValue/init(encoding:coding:)``.
struct JSONEncoding: Encoder {
    let node: JSONEncodingNode

    var codingPath: [any CodingKey] { node.path }

    var userInfo: [CodingUserInfoKey: Any] { node.rules.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.becomeObject()
        return KeyedEncodingContainer(JSONKeyedEncoding<Key>(node: node))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.becomeArray()
        return JSONUnkeyedEncoding(node: node)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { JSONSingleEncoding(node: node) }
}

/// Encodes a single value.
struct JSONSingleEncoding: SingleValueEncodingContainer {
    let node: JSONEncodingNode

    var codingPath: [any CodingKey] { node.path }

    func encodeNil() throws { node.set(.null) }

    func encode(_ value: Bool) throws { node.set(.bool(value)) }

    func encode(_ value: String) throws { node.set(.string(value)) }

    func encode(_ value: Double) throws { node.set(try node.encoded(value)) }

    func encode(_ value: Float) throws { node.set(try node.encoded(value)) }

    func encode(_ value: some FixedWidthInteger & Encodable) throws { node.set(.number(JSONNumber(value))) }

    func encode(_ value: Int128) throws { node.set(.number(JSONNumber(value))) }

    func encode(_ value: UInt128) throws { node.set(.number(JSONNumber(value))) }

    func encode(_ value: some Encodable) throws { try node.encode(value) }
}

/// Encodes the elements of an array.
struct JSONUnkeyedEncoding: UnkeyedEncodingContainer {
    let node: JSONEncodingNode

    var codingPath: [any CodingKey] { node.path }

    var count: Int { node.count }

    func encodeNil() throws { node.add(.value(.null)) }

    func encode(_ value: Bool) throws { node.add(.value(.bool(value))) }

    func encode(_ value: String) throws { node.add(.value(.string(value))) }

    func encode(_ value: Double) throws { node.add(.value(try node.encoded(value, at: key))) }

    func encode(_ value: Float) throws { node.add(.value(try node.encoded(value, at: key))) }

    func encode(_ value: some FixedWidthInteger & Encodable) throws { node.add(.value(.number(JSONNumber(value)))) }

    func encode(_ value: Int128) throws { node.add(.value(.number(JSONNumber(value)))) }

    func encode(_ value: UInt128) throws { node.add(.value(.number(JSONNumber(value)))) }

    func encode(_ value: some Encodable) throws { node.add(.value(try node.encoded(value, at: key))) }

    func nestedContainer<Nested: CodingKey>(keyedBy keyType: Nested.Type) -> KeyedEncodingContainer<Nested> {
        JSONEncoding(node: node.nextChild()).container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        JSONEncoding(node: node.nextChild()).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { JSONEncoding(node: node.nextChild()) }

    private var key: JSONCodingKey { JSONCodingKey(node.count) }
}

// MARK: - JSONKeyedEncoding

/// Encodes the members of an object.
struct JSONKeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: JSONEncodingNode

    var codingPath: [any CodingKey] { node.path }

    func encodeNil(forKey key: Key) throws { add(.null, key) }

    func encode(_ value: Bool, forKey key: Key) throws { add(.bool(value), key) }

    func encode(_ value: String, forKey key: Key) throws { add(.string(value), key) }

    func encode(_ value: Double, forKey key: Key) throws { add(try node.encoded(value, at: key), key) }

    func encode(_ value: Float, forKey key: Key) throws { add(try node.encoded(value, at: key), key) }

    func encode(_ value: some FixedWidthInteger & Encodable, forKey key: Key) throws {
        add(.number(JSONNumber(value)), key)
    }

    func encode(_ value: Int128, forKey key: Key) throws { add(.number(JSONNumber(value)), key) }

    func encode(_ value: UInt128, forKey key: Key) throws { add(.number(JSONNumber(value)), key) }

    func encode(_ value: some Encodable, forKey key: Key) throws { add(try node.encoded(value, at: key), key) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy keyType: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        JSONEncoding(node: node.child(key)).container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        JSONEncoding(node: node.child(key)).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { JSONEncoding(node: node.child(JSONCodingKey.super)) }

    func superEncoder(forKey key: Key) -> any Encoder { JSONEncoding(node: node.child(key)) }

    private func add(_ value: JSONValue, _ key: Key) { node.add(.value(value), named: node.name(of: key)) }
}

// MARK: - JSONEncodingNode

/// One place in the value that is being encoded, and its content so far.
///
/// Containers share it by reference, because a nested container is filled after its parent has stored it.
final class JSONEncodingNode {
    /// A complete value, or a node that is still being filled.
    enum Slot {
        case value(JSONValue)
        case node(JSONEncodingNode)
    }

    private enum Content {
        case nothing
        case single(JSONValue)
        case members([(name: String, slot: Slot)])
        case elements([Slot])
    }

    let path: [any CodingKey]
    let rules: CodingRules
    private var content = Content.nothing
    private var failure: EncodingError?

    init(path: [any CodingKey], rules: CodingRules) { (self.path, self.rules) = (path, rules) }

    /// Whether nothing was encoded here.
    var isEmpty: Bool { if case .nothing = content, failure == nil { true } else { false } }

    /// The number of elements of an array.
    var count: Int { if case .elements(let slots) = content { slots.count } else { 0 } }

    /// Replaces the content by a value.
    func set(_ value: JSONValue) { content = .single(value) }

    func becomeObject() {
        switch content {
        case .nothing: content = .members([])
        case .members: break
        default: fail("an object is asked for where another value is encoded")
        }
    }

    func becomeArray() {
        switch content {
        case .nothing: content = .elements([])
        case .elements: break
        default: fail("an array is asked for where another value is encoded")
        }
    }

    /// Adds a member, or replaces an existing one with its name.
    func add(_ slot: Slot, named name: String) {
        guard case .members(var members) = content else { return }
        content = .nothing
        members.append((name, slot))
        content = .members(members)
    }

    /// Adds an element.
    func add(_ slot: Slot) {
        guard case .elements(var elements) = content else { return }
        content = .nothing
        elements.append(slot)
        content = .elements(elements)
    }

    /// The node of a member: an existing open one, or a new one.
    func child(_ key: some CodingKey) -> JSONEncodingNode {
        let name = name(of: key)
        if case .members(let members) = content,
            case .node(let open)? = members.last(where: { $0.name.utf8.elementsEqual(name.utf8) })?.slot
        {
            return open
        }
        let node = JSONEncodingNode(path: path + [key], rules: rules)
        add(.node(node), named: name)
        return node
    }

    /// The name of the member for a key.
    func name(of key: some CodingKey) -> String { rules.name(of: key, in: path) }

    /// The node of a new element.
    func nextChild() -> JSONEncodingNode {
        let node = JSONEncodingNode(path: path + [JSONCodingKey(count)], rules: rules)
        add(.node(node))
        return node
    }

    /// The encoded value; a node without content becomes an empty object.
    func json() throws -> JSONValue {
        if let failure { throw failure }
        switch content {
        case .nothing: return .object([:])
        case .single(let value): return value
        case .elements(let slots): return .array(try slots.map { try $0.json() })
        case .members(let members):
            var object = JSONObject()
            for (name, slot) in members { object[name] = try slot.json() }
            return .object(object)
        }
    }

    /// The error for a value at this place.
    func invalid(_ value: Any, _ message: String) -> EncodingError {
        .invalidValue(value, EncodingError.Context(codingPath: path, debugDescription: message))
    }

    private func fail(_ message: String) { failure = failure ?? invalid(String(describing: content), message) }
}

extension JSONEncodingNode.Slot {
    /// The value; for an open node, its content so far.
    fileprivate func json() throws -> JSONValue {
        switch self {
        case .value(let value): value
        case .node(let node): try node.json()
        }
    }
}

extension JSONEncodingNode {
    /// Encodes a value at this place.
    func encode(_ value: some Encodable) throws {
        guard path.count <= JSONLimits.depth else {
            throw invalid(value, "more than \(JSONLimits.depth) levels of arrays and objects")
        }
        if let json = try rules.encode(value, at: path) { return set(json) }
        try value.encode(to: JSONEncoding(node: self))
        if value is any Unordered { set(try json().sorted(byPairs: !(value is any SetAlgebra))) }
    }

    /// The JSON of a value for a key in this container.
    func encoded(_ value: some Encodable, at key: some CodingKey) throws -> JSONValue {
        let node = JSONEncodingNode(path: path + [key], rules: rules)
        try node.encode(value)
        return try node.json()
    }

    /// The JSON of a float in the fewest digits; infinity and NaN are `null` or an error, by the rules.
    func encoded(_ value: Double, at key: (any CodingKey)? = nil) throws -> JSONValue {
        guard let number = JSONNumber(value) else {
            if rules.hasNullNumbers { return .null }
            throw JSONEncodingNode(path: path + (key.map { [$0] } ?? []), rules: rules).invalid(
                value, "JSON has no \(value)")
        }
        return .number(number)
    }

    /// The JSON of a float in the fewest digits that a `Float` needs; a `Double` would need more.
    func encoded(_ value: Float, at key: (any CodingKey)? = nil) throws -> JSONValue {
        try encoded(Double(value.description) ?? Double(value), at: key)
    }
}

/// A collection whose elements have a different order in each process.
private protocol Unordered {}

extension Dictionary: Unordered {}
extension Set: Unordered {}

extension JSONValue {
    /// The same collection in an order that depends only on its values: members by the bytes of their names,
    /// elements in the order of JSON values. If the keys of a dictionary are not names, its elements are pairs of a
    /// key and a value.
    fileprivate func sorted(byPairs: Bool) -> JSONValue {
        switch self {
        case .object(let members):
            let sorted = members.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
            return .object(JSONObject(sorted.map { ($0.name, $0.value) }))
        case .array(let elements) where byPairs:
            let starts = stride(from: 0, to: elements.count - 1, by: 2).sorted {
                elements[$0].comes(before: elements[$1])
            }
            return .array(starts.flatMap { elements[$0...($0 + 1)] })
        case .array(let elements): return .array(elements.sorted { $0.comes(before: $1) })
        default: return self
        }
    }

    /// Whether a value comes first. Values that are equal in CouchDB's order are ordered by their bytes.
    private func comes(before other: JSONValue) -> Bool {
        switch Collation.compare(self, other) {
        case .before: true
        case .after: false
        case .same: utf8.lexicographicallyPrecedes(other.utf8)
        }
    }
}
