internal import SettleCore
internal import SettleDatabase

/// A type that is stored as an object with a field for each key: a dictionary, or an optional one.
public protocol TableValue {
    /// The type of the keys.
    associatedtype TableKey: Hashable
    /// The type of the values.
    associatedtype TableElement
}

extension Dictionary: TableValue {
    /// The type of the keys.
    public typealias TableKey = Key
    /// The type of the values.
    public typealias TableElement = Value
}

extension Optional: TableValue where Wrapped: TableValue {
    /// The type of the keys of the dictionary, if there is one.
    public typealias TableKey = Wrapped.TableKey
    /// The type of the values of the dictionary, if there is one.
    public typealias TableElement = Wrapped.TableElement
}

extension QueryField where Value: TableValue, Value.TableKey: Encodable, Value.TableElement: Encodable & Sendable {
    /// The value of a key.
    ///
    /// A dictionary is stored as an object if its keys are `String`, `Int` or `CodingKeyRepresentable`. Of any other one, which is a
    /// list of keys and values, the condition throws ``QueryError`` with code `unsupportedCondition`.
    public subscript(key: Value.TableKey) -> QueryField<Value.TableElement> {
        let name = Result { () throws -> String in
            guard case .object(let members) = try JSONValue(encoding: [key: 0], coding: coding),
                let name = members.first?.name
            else {
                throw QueryError(
                    .unsupportedCondition,
                    "a dictionary with keys of type \(Value.TableKey.self) is stored as a list of keys and values; let the type conform to "
                        + "CodingKeyRepresentable")
            }
            return ModelNames.escaped(name)
        }.mapError { $0 as? QueryError ?? QueryError(.unsupportedCondition, "\($0)") }
        return QueryField<Value.TableElement>(subject.flatMap { subject in name.map { subject.member($0) } }, coding)
    }

    /// Matches dictionaries without keys.
    public var isEmpty: QueryCondition { condition("$eq", [Value.TableKey: Value.TableElement]()) }
}
