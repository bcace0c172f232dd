internal import SettleDatabase
internal import SettlePlatform

/// The names under which a model decodes its properties: the cases of its coding keys.
///
///     enum CodingKeys: String, CodingKey { case name, age = "years" }     →     ["name": "name", "age": "years"]
///
/// `init(from:)` is called with a decoder that throws as soon as it is asked for a container. The request for a container has the type
/// of the keys, and the model never gets a value. The names are cached for each type.
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

/// Holds the names of the first keys that a decoder is asked for.
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
