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
