internal import SettleCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Which members a decoder was asked for, and which of them gets another value than the plain one.
final class SampleRecorder {
    private(set) var paths: [[String]] = []
    /// What each member was decoded as.
    private(set) var values: [[String]: Any] = [:]
    private let other: Int?

    init(other: Int? = nil) { self.other = other }

    /// Notes a member, in the order of decoding.
    ///
    /// - Returns: Whether it gets the other value.
    func isOther(_ path: [any CodingKey]) -> Bool {
        paths.append(path.map(\.stringValue))
        return other == paths.count - 1
    }

    /// Notes what a member was decoded as. That of the whole member comes last.
    func note(_ value: Any, at path: [any CodingKey]) { values[path.map(\.stringValue)] = value }
}

/// Decodes a model from made-up values, for ``ModelNames``: each member that is not an object of known members is one of two.
///
/// A model may contain itself. So deep inside, what can be missing is missing, and lists are empty.
struct SampleDecoder: Decoder {
    let recorder: SampleRecorder
    let codingPath: [any CodingKey]
    /// Whether what is decoded is part of a member that was noted, and gets the other value.
    let isOther: Bool?

    init(_ recorder: SampleRecorder, path: [any CodingKey] = [], isOther: Bool? = nil) {
        (self.recorder, codingPath, self.isOther) = (recorder, path, isOther)
    }

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(SampleMembers<Key>(decoder: self))
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer {
        let whole = whole()
        return SampleElements(decoder: whole, length: whole.isOther == true && !isDeep ? 1 : 0)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    /// Whether optional values and elements are left out here.
    var isDeep: Bool { codingPath.count > 4 }

    func child(_ key: some CodingKey) -> SampleDecoder {
        SampleDecoder(recorder, path: codingPath + [key], isOther: isOther)
    }

    /// One of two values for this place.
    private func pick<Value>(_ plain: Value, _ other: Value) -> Value {
        let value = isOther ?? recorder.isOther(codingPath) ? other : plain
        recorder.note(value, at: codingPath)
        return value
    }

    /// A decoder of the parts of this place, which is one member as a whole.
    private func whole() -> SampleDecoder {
        SampleDecoder(recorder, path: codingPath, isOther: isOther ?? recorder.isOther(codingPath))
    }
}

extension SampleDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { isDeep }

    func decode(_ type: Bool.Type) -> Bool { pick(false, true) }

    func decode(_ type: String.Type) -> String { pick("a", "b") }

    func decode(_ type: Double.Type) -> Double { pick(0, 1) }

    func decode(_ type: Float.Type) -> Float { pick(0, 1) }

    func decode(_ type: Int128.Type) -> Int128 { pick(0, 1) }

    func decode(_ type: UInt128.Type) -> UInt128 { pick(0, 1) }

    func decode<T: FixedWidthInteger & Decodable>(_ type: T.Type) -> T { pick(0, 1) }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        if let made = made(type) { return made }
        if let cases = type as? any CaseIterable.Type, let made = one(of: cases) as? T { return made }
        // A list or a table has no members of its own: it is empty, or has one element.
        let value = try T(from: type is any SampledWhole.Type ? whole() : self)
        recorder.note(value, at: codingPath)
        return value
    }

    /// A value of a type of Foundation that a model may have.
    private func made<T>(_ type: T.Type) -> T? {
        if type == Date.self {
            return pick(Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: 1)) as? T
        } else if type == Data.self {
            return pick(Data(), Data([1])) as? T
        } else if type == URL.self {
            return pick(URL(string: "a:b"), URL(string: "a:c")) as? T
        } else if type == Decimal.self {
            return pick(Decimal(0), Decimal(1)) as? T
        } else if type == UUID.self {
            let zero: UInt8 = 0
            let bytes = { (last: UInt8) in
                (zero, zero, zero, zero, zero, zero, zero, zero, zero, zero, zero, zero, zero, zero, zero, last)
            }
            return pick(UUID(uuid: bytes(0)), UUID(uuid: bytes(1))) as? T
        } else if type == JSONValue.self {
            return pick(JSONValue.null, .bool(true)) as? T
        }
        return nil
    }

    private func one<Cases: CaseIterable>(of type: Cases.Type) -> Any? {
        let all = Array(type.allCases)
        guard let first = all.first, let last = all.last else { return nil }
        return pick(first, last)
    }
}

/// A collection that is decoded without keys of its own.
private protocol SampledWhole {}
extension Array: SampledWhole {}
extension Set: SampledWhole {}
extension Dictionary: SampledWhole {}
