public import SettleCore

/// The members of documents, for the conditions of a query.
///
///     $0["address.city"]     by a path
///     $0.age                 by a property, of a model that is ``Queryable``
@dynamicMemberLookup
public struct QueryFields<Model: Sendable>: Sendable {
    /// A member by its path, of any type.
    public subscript(path: String) -> QueryField<JSON> { QueryField(path) }

    /// A member by its property.
    public subscript<Value>(dynamicMember property: KeyPath<Model, Value>) -> QueryField<Value>
    where Model: Queryable { QueryField(Self.name(of: property)) }

    /// The name of a property's member, or an error.
    static func name(of property: PartialKeyPath<Model>) -> Result<String, QueryError> where Model: Queryable {
        if let name = Model.fieldNames[property] { return .success(name.replacing(".", with: "\\.")) }
        return .failure(
            QueryError(
                .unknownField, "\(Model.self).fieldNames has no name for \(property), so it can't be asked about"))
    }
}

/// A model whose properties can be named in queries.
///
///     struct Person: Queryable {
///         var name: String
///         var age: Int
///
///         static var fieldNames: [PartialKeyPath<Person>: String] { [\.name: "name", \.age: "age"] }
///     }
///
///     try database.find(Query<Person>().where { $0.age > 30 && $0.name.hasPrefix("A") })
///
/// A query names members of documents. Swift can't map a property to its coding name: names come from `CodingKeys`,
/// which may differ from those of the properties. So a model lists them once. A query that uses a property without an
/// entry throws ``QueryError`` with code `unknownField`.
///
/// Conditions by name work with any `Codable` model without this: `Query<Person>().where { $0["age"] > 30 }`.
public protocol Queryable: Codable, Sendable {
    /// The names of the members by the properties they are coded from.
    static var fieldNames: [PartialKeyPath<Self>: String] { get }
}
