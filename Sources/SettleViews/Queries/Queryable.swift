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
/// A query asks about members of documents, by their names. Swift knows no way from a property to the name by which it is
/// coded: names come from `CodingKeys`, which need not be those of the properties. So a model says them itself, once. A
/// property that is not in the table can't be asked about; a query that does so throws ``QueryError`` with code
/// `unknownField`, it never asks for something else.
///
/// Any `Codable` model can be found without this, by conditions on names: `Query<Person>().where { $0["age"] > 30 }`.
public protocol Queryable: Codable, Sendable {
    /// The names of the members by the properties they are coded from.
    static var fieldNames: [PartialKeyPath<Self>: String] { get }
}
