// This target is empty on systems without SwiftUI.
#if canImport(SwiftUI)

public import Settle
public import SwiftUI

/// The documents that a query finds, for a view, which shows them and follows the database.
///
///     struct People: View {
///         @LiveDocuments(DocumentQuery<Person>().where { $0.age > 30 }) private var people
///
///         var body: some View { List(people) { Text($0.name) } }
///     }
///
///     People().database(database)
///
/// Without a ``SwiftUICore/View/database(_:)`` around the view there are no documents.
///
/// A view keeps its first query: queries can't be compared, so another one that its parent gives it later is ignored.
/// Give such a view an identity that changes with the query:
///
///     People(olderThan: age).id(age)
@MainActor @propertyWrapper
public struct LiveDocuments<Model: Decodable & Sendable>: @MainActor DynamicProperty {
    /// The live query, which lives as long as the view.
    private final class Holder {
        var live: (query: LiveQuery<Model>, database: Database)?
    }

    @Environment(\.database) private var database
    @State private var holder = Holder()
    private let query: DocumentQuery<Model>

    /// Sets the query.
    public init(_ query: DocumentQuery<Model>) { self.query = query }

    /// The documents found; empty until the first result.
    public var wrappedValue: [Saved<Model>] { holder.live?.query.rows ?? [] }

    /// The live query, with its error and the documents that don't fit the model; `nil` without a database.
    public var projectedValue: LiveQuery<Model>? { holder.live?.query }

    /// Called by SwiftUI before the view is drawn.
    public func update() {
        guard let database, holder.live?.database !== database else { return }
        holder.live = (LiveQuery(query, in: database), database)
    }
}

extension EnvironmentValues {
    /// The database that ``LiveDocuments`` query.
    @Entry public var database: Database?
}

extension View {
    /// Sets the database for the views inside.
    public func database(_ database: Database) -> some View { environment(\.database, database) }
}

#endif
