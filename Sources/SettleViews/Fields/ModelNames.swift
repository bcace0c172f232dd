internal import SettleDatabase
internal import SettlePlatform

/// Finds the document fields for key paths of a model, without an instance of the model.
///
///     \Order.customer?.address.city
///        │       │         │     └ stored property of Address ─ its coding key ─→ "city"
///        │       │         └ stored property of Customer      ─ its coding key ─→ "address"
///        │       └ stored property of Order                   ─ its coding key ─→ "client"        client.address.city
///        └ type
///
/// A key path's description contains the names of the stored properties that it goes through. The coding key of a
/// property is the case of the same name (``CodingNames``). Neither reads a value or calls a getter, so a computed
/// property that would trap for some values is an error here and not a crash.
enum ModelNames {
    /// The path of the field, escaped for selectors; or an error with a remedy.
    ///
    /// - Parameters:
    ///   - property: The key path.
    ///   - isDocument: Whether the root is the model of whole documents, whose `id` is the document's id, and not
    ///     of a part of one.
    /// - Returns: The path, or a ``QueryError`` with code `unknownField`.
    static func path<Model>(
        of property: PartialKeyPath<Model>, isDocument: Bool = true
    ) -> Result<String, QueryError> {
        if let name = given(Model.self, property) { return .success(escaped(name)) }
        let valueType = type(of: property).valueType
        let description = (property as AnyKeyPath).debugDescription
        var ways: [[(owner: Any.Type, name: String)]] = []
        let prefix = "\\" + String(describing: Model.self)
        if description.hasPrefix(prefix) {
            ways = Self.ways(through: Model.self, to: valueType, description.dropFirst(prefix.count))
        }
        guard ways.count == 1, let way = ways.first, !way.isEmpty else {
            return .failure(
                unknown(
                    Model.self, valueType, description,
                    "it is not a stored property, but a computed or wrapped one, one with observers, or part of a value"
                ))
        }
        var names: [String] = []
        for (place, part) in way.enumerated() {
            if place == 0, isDocument, part.name == "id", CodingRules.isIDOfDocument(in: Model.self) {
                names.append("_id")
                continue
            }
            let keys = (part.owner as? any Decodable.Type).flatMap { CodingNames.of($0, .of(Model.self)) }
            guard let name = keys?[part.name] else {
                return .failure(
                    unknown(
                        Model.self, valueType, description, "\(part.owner) has no coding key \"\(part.name)\""))
            }
            names.append(escaped(name))
        }
        return .success(names.joined(separator: "."))
    }

    /// A name, escaped for use in a path.
    static func escaped(_ name: String) -> String {
        guard !name.isEmpty, !name.hasPrefix("$") else { return "\\" + name.replacing(".", with: "\\.") }
        return name.replacing(".", with: "\\.")
    }

    private static func given(_ model: Any.Type, _ property: AnyKeyPath) -> String? {
        func name<Listed: Queryable>(_ model: Listed.Type) -> String? {
            model.fieldNames.first { ($0.key as AnyKeyPath) == property }?.value
        }
        return (model as? any Queryable.Type).flatMap { name($0) }
    }

    /// The stored properties from a type to a value, given the rest of a description.
    ///
    /// A description identifies a property by its offset. Empty properties have the same offset as another one, so
    /// all of them are tried, and the type of the value decides.
    private static func ways(
        through type: Any.Type, to valueType: Any.Type, _ rest: Substring
    ) -> [[(owner: Any.Type, name: String)]] {
        if rest.isEmpty { return type == valueType ? [[]] : [] }
        // At the end, a question mark wraps the value; elsewhere it unwraps an optional one, as does an exclamation mark.
        if rest == "?", let optional = valueType as? any OptionalValue.Type, optional.wrapped == type { return [[]] }
        if rest.hasPrefix("?") || rest.hasPrefix("!") {
            guard let optional = type as? any OptionalValue.Type else { return [] }
            return ways(through: optional.wrapped, to: valueType, rest.dropFirst())
        }
        guard rest.hasPrefix(".") else { return [] }
        let fields = StoredField.all(of: type)
        var found: [[(owner: Any.Type, name: String)]] = []
        for named in fields where rest.dropFirst().hasPrefix(named.name) {
            let next = rest.dropFirst(1 + named.name.count)
            guard next.first.map({ ".?!".contains($0) }) ?? true else { continue }
            for field in fields where field.offset == named.offset {
                found += ways(through: field.type, to: valueType, next).map { [(type, field.name)] + $0 }
            }
        }
        return found
    }

    private static func unknown(
        _ model: Any.Type, _ valueType: Any.Type, _ description: String, _ reason: String
    ) -> QueryError {
        let property =
            description.contains("<computed") ? "a property of \(model) with a \(valueType)" : description
        return QueryError(
            .unknownField,
            "the field of \(property) is not known: \(reason); list it in \(model).fieldNames (see Queryable), or name the field: "
                + "$0[\"name\"]")
    }
}

/// A value that may be missing.
protocol OptionalValue {
    static var wrapped: Any.Type { get }
    var isNothing: Bool { get }
}

extension Optional: OptionalValue {
    static var wrapped: Any.Type { Wrapped.self }
    var isNothing: Bool { if case .none = self { true } else { false } }
}

// MARK: - CodingNames

/// The names under which a model decodes its properties: the cases of its coding keys.
///
///     enum CodingKeys: String, CodingKey { case name, age = "years" }     →     ["name": "name", "age": "years"]
///
/// `init(from:)` is called with a decoder that throws when it is asked for a container. The request for a container
/// has the type of the keys, and the model never gets a value. The names are cached for each type.
enum CodingNames {
    /// The names by cases; `nil` if the type is not decoded from an object, or if its keys are not an enumeration.
    static func of(_ type: any Decodable.Type, _ coding: DocumentCoding) -> [String: String]? {
        let id = ObjectIdentifier(type)
        if let names = known.withLock({ $0[id] }) { return names }
        let recorder = KeyRecorder()
        _ = try? type.init(from: KeyDecoder(recorder: recorder, userInfo: coding.userInfo))
        guard let names = recorder.names else { return nil }
        known.withLock { $0[id] = names }
        return names
    }

    private static let known = Guarded<[ObjectIdentifier: [String: String]]>([:])
}

/// Stores the names of the first keys for which a decoder is asked.
private final class KeyRecorder {
    private(set) var names: [String: String]?
    private var isDone = false

    func record<Key: CodingKey>(_ keys: Key.Type) {
        guard !isDone else { return }
        isDone = true
        guard let cases = EnumCases.all(of: keys) else { return }
        names = Dictionary(cases.map { ($0.name, $0.value.stringValue) }) { first, _ in first }
    }
}

/// Records the type of the keys, and throws instead of decoding.
private struct KeyDecoder: Decoder {
    struct Stop: Error {}

    let recorder: KeyRecorder
    let userInfo: [CodingUserInfoKey: Any]

    var codingPath: [any CodingKey] { [] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        recorder.record(type)
        throw Stop()
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Stop() }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw Stop() }
}

// MARK: - StoredField

/// A stored property of a struct or a class, from the type's metadata.
///
/// The functions are those of the standard library's `Mirror`. They read the metadata, run no code of the type, and
/// need no instance.
struct StoredField {
    let name: String
    let type: Any.Type
    /// The offset from the start of the instance. Several properties have the same offset if all but one of them
    /// are empty.
    let offset: Int

    /// The stored properties of a type, in order; empty for a type that is neither a struct nor a class.
    static func all(of type: Any.Type) -> [StoredField] {
        guard type is AnyClass || metadataKind(type) == structKind else { return [] }
        return (0..<fieldCount(type)).map { index in
            var description = FieldDescription()
            let fieldType = fieldType(type, index: index, description: &description)
            defer { description.free?(description.name) }
            let name = description.name.map { String(cString: $0) } ?? ""
            return StoredField(name: name, type: fieldType, offset: fieldOffset(type, index: index))
        }
    }
}

/// The cases of an enumeration without associated values.
enum EnumCases {
    /// Each case with its name, in order; `nil` for any other type.
    static func all<Value>(of type: Value.Type) -> [(name: String, value: Value)]? {
        guard metadataKind(type) == enumKind, let descriptor = typeDescriptor(type) else { return nil }
        let (payloadCases, count) = (descriptor[5] & 0xFF_FFFF, descriptor[6])
        // Such a value stores the index of its case in as few bytes as possible; an enumeration with one case
        // stores nothing.
        let size = count < 2 ? 0 : count <= 256 ? 1 : 2
        guard payloadCases == 0, count <= 65_536, MemoryLayout<Value>.size == size else { return nil }
        return (0..<count).map { tag in
            let value = withUnsafeBytes(of: UInt64(tag).littleEndian) { $0.load(as: Value.self) }
            return (enumCaseName(value).map { String(cString: $0) } ?? "", value)
        }
    }
}

/// The runtime's metadata of a stored property: `_FieldReflectionMetadata` of the standard library.
private struct FieldDescription {
    var name: UnsafePointer<CChar>?
    var free: (@convention(c) (UnsafePointer<CChar>?) -> Void)?
    var isStrong = false
    var isVariable = false
}

private let structKind: UInt = 0x200
private let enumKind: UInt = 0x201

@_silgen_name("swift_getMetadataKind")
private func metadataKind(_ type: Any.Type) -> UInt

@_silgen_name("swift_getTypeContextDescriptor")
private func typeDescriptor(_ type: Any.Type) -> UnsafePointer<UInt32>?

@_silgen_name("swift_reflectionMirror_recursiveCount")
private func fieldCount(_ type: Any.Type) -> Int

@_silgen_name("swift_reflectionMirror_recursiveChildMetadata")
private func fieldType(
    _ type: Any.Type, index: Int, description: UnsafeMutablePointer<FieldDescription>
) -> Any.Type

@_silgen_name("swift_reflectionMirror_recursiveChildOffset")
private func fieldOffset(_ type: Any.Type, index: Int) -> Int
