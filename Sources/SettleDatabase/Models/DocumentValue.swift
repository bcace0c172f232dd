public import SettleCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A value that a field of a document can be set to directly.
///
///     document["count"] = count                   // Int
///     document["due"] = Date()                    // ISO 8601
///     let tags: [String]? = document["tags"]
///
/// Values are stored in the forms of ``DocumentCoding/standard``. A number that is infinite or not a number becomes
/// `null`, as in JavaScript, also in a list or an object; another value that can't be encoded makes the whole value
/// `null`. A model of an app can conform, too: `extension Address: DocumentValue {}`.
public protocol DocumentValue: Codable, Sendable {}

extension Bool: DocumentValue {}
extension String: DocumentValue {}
extension Int: DocumentValue {}
extension Int8: DocumentValue {}
extension Int16: DocumentValue {}
extension Int32: DocumentValue {}
extension Int64: DocumentValue {}
extension UInt: DocumentValue {}
extension UInt8: DocumentValue {}
extension UInt16: DocumentValue {}
extension UInt32: DocumentValue {}
extension UInt64: DocumentValue {}
extension Double: DocumentValue {}
extension Float: DocumentValue {}
extension Decimal: DocumentValue {}
extension Date: DocumentValue {}
extension Data: DocumentValue {}
extension URL: DocumentValue {}
extension UUID: DocumentValue {}
extension Array: DocumentValue where Element: DocumentValue {}
extension Dictionary: DocumentValue where Key == String, Value: DocumentValue {}

extension JSONValue {
    /// The JSON of a value: `JSONValue(count)`.
    public init(_ value: some DocumentValue) {
        let rules = CodingRules(.of(type(of: value)), hasNullNumbers: true)
        self = (try? JSONValue(encoding: value, by: rules)) ?? .null
    }
}

extension Document {
    /// One field as a Swift value; `nil` if it is absent or has another type. Setting `nil` removes it.
    @_disfavoredOverload
    public subscript<Value: DocumentValue>(name: String) -> Value? {
        get { self[name].flatMap { (json: JSONValue) in try? json.decode(Value.self) } }
        set { self[name] = newValue.map { JSONValue($0) } }
    }
}
