/// The header fields of a request or response, in order; names are case-insensitive.
public struct TransportHeaders: Sendable, ExpressibleByDictionaryLiteral {
    /// The fields in order; a name may occur several times.
    public private(set) var fields: [(name: String, value: String)]

    /// Creates headers without fields.
    public init() { fields = [] }

    /// Creates headers from names and values.
    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { (name: $0.0, value: $0.1) }
    }

    /// The first value of a name; setting it replaces all values, and `nil` removes them.
    public subscript(name: String) -> String? {
        get { fields.first { Self.matches($0.name, name) }?.value }
        set {
            fields.removeAll { Self.matches($0.name, name) }
            if let newValue { fields.append((name: name, value: newValue)) }
        }
    }

    /// All values of a name, in order.
    public func all(_ name: String) -> [String] { fields.filter { Self.matches($0.name, name) }.map(\.value) }

    /// Adds a field, keeping others of the same name.
    public mutating func add(_ name: String, _ value: String) { fields.append((name: name, value: value)) }

    /// Replaces fields with those of other headers.
    mutating func merge(_ other: TransportHeaders) {
        for field in other.fields { self[field.name] = nil }
        fields += other.fields
    }

    /// The fields with the given names.
    func only(_ names: [String]) -> TransportHeaders {
        var kept = TransportHeaders()
        kept.fields = fields.filter { field in names.contains { Self.matches($0, field.name) } }
        return kept
    }

    private static func matches(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count
            && zip(left.utf8, right.utf8).allSatisfy { lowercased($0) == lowercased($1) }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
    }
}

extension TransportHeaders: CustomStringConvertible, CustomReflectable {
    /// The names only, because values may be secret.
    public var description: String { fields.map(\.name).joined(separator: ", ") }

    /// The names only.
    public var customMirror: Mirror { Mirror(self, children: ["names": description], displayStyle: .struct) }
}
