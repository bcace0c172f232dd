public import SettleCore
public import SettleDatabase

/// The fields of documents, for the conditions of a query.
///
///     $0["address.city"]     by a path
///     $0.age                 by a property of the model
@dynamicMemberLookup
public struct QueryFields<Model: Decodable & Sendable>: Sendable {
    /// A field by its path, of any type.
    public subscript(path: String) -> QueryField<JSONValue> {
        QueryField(.success(QuerySubject(path: path)), .of(Model.self))
    }

    /// A field by its property. See ``Queryable`` for the properties whose fields are unknown.
    public subscript<Value>(dynamicMember property: KeyPath<Model, Value>) -> QueryField<Value> {
        let subject = ModelNames.path(of: property).map { path in
            QuerySubject(path: path, kind: path == "_id" ? .documentID : .value)
        }
        return QueryField(subject, .of(Model.self))
    }
}

/// A model that names the fields of some of its properties itself.
///
///     struct Person: Codable {
///         var name: String
///         var age: Int
///         enum CodingKeys: String, CodingKey { case name, age = "years" }
///     }
///
///     try database.find(DocumentQuery<Person>().where { $0.age > 30 && $0.name.hasPrefix("A") })     // years > 30
///
/// Queries use the fields of documents, while a model has properties. The field of a stored property is its coding
/// key: the case with the property's name. The `id` of a model that is `Identifiable` is the document's id. Finding
/// the field runs no code of the model on made-up values. It works for any `Codable` model, except for
/// - a property that is computed, has a wrapper (`@Trimmed var name`) or observers (`didSet`), or is a `var` of a class;
/// - a property without a coding key of its name, which is possible with a custom `init(from:)`.
///
/// The model lists those. A condition that uses such a property without an entry throws ``QueryError`` with code
/// `unknownField`:
///
///     struct Task: Queryable {
///         @Trimmed var title: String
///         static let fieldNames: [QueryFieldPath<Task>: String] = [\.title: "title"]
///     }
///
/// Conditions by name don't need this: `$0["age"] > 30`.
public protocol Queryable: DocumentModel {
    /// The field names of properties whose fields are unknown; empty by default.
    static var fieldNames: [QueryFieldPath<Self>: String] { get }
}

extension Queryable {
    /// A model that lists no properties.
    public static var fieldNames: [QueryFieldPath<Self>: String] { [:] }
}

/// A property of a model, in ``Queryable/fieldNames``.
public typealias QueryFieldPath<Model> = any PartialKeyPath<Model> & Sendable
