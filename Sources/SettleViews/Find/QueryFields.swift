public import SettleCore
public import SettleDatabase

/// The members of documents, for the conditions of a query.
///
///     $0["address.city"]     by a path
///     $0.age                 by a property of the model
@dynamicMemberLookup
public struct QueryFields<Model: Decodable & Sendable>: Sendable {
    /// A member by its path, of any type.
    public subscript(path: String) -> QueryField<JSONValue> { QueryField(.success(path), .of(Model.self)) }

    /// A member by its property. Its name is found by decoding the model; see ``Queryable`` for what can't be found so.
    public subscript<Value>(dynamicMember property: KeyPath<Model, Value>) -> QueryField<Value> {
        QueryField(ModelNames.path(of: property), .of(Model.self))
    }
}

/// A model that names some of its properties for queries itself.
///
///     struct Person: Codable {
///         var name: String
///         var age: Int
///         enum CodingKeys: String, CodingKey { case name, age = "years" }
///     }
///
///     try database.find(DocumentQuery<Person>().where { $0.age > 30 && $0.name.hasPrefix("A") })     // years > 30
///
/// A query names members of documents, and a model properties. Which is which is found by decoding the model several times, each
/// time with another value for one member, and looking at the property. So any `Codable` model can be asked about, but for a
/// property
/// - that is computed of several members, or is not decoded;
/// - of a model that refuses made-up values: an enumeration that is not `CaseIterable`, or a check in `init(from:)`.
///
/// The model lists those, and a query that uses one without an entry throws ``QueryError`` with code `unknownField`:
///
///     struct Task: Queryable {
///         var due: DueDate
///         static let fieldNames: [QueryFieldPath<Task>: String] = [\.due: "due"]
///     }
///
/// Conditions by name need nothing of this: `$0["age"] > 30`.
public protocol Queryable: DocumentModel {
    /// The names of members by properties, for those whose names can't be found; empty by default.
    static var fieldNames: [QueryFieldPath<Self>: String] { get }
}

extension Queryable {
    /// No names: all are found.
    public static var fieldNames: [QueryFieldPath<Self>: String] { [:] }
}

/// A property of a model, in ``Queryable/fieldNames``.
public typealias QueryFieldPath<Model> = any PartialKeyPath<Model> & Sendable
