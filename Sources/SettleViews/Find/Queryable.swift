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
