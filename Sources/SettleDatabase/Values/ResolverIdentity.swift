/// The name and version of a resolver, stored with its decisions.
///
/// Replicas that settle by different rules still converge, but on a revision chosen by its id. An identity makes such a
/// mixed fleet visible: ``Settlement/otherResolvers`` lists earlier resolvers with another name or version. It becomes
/// part of the closing tombstones and so of their revision ids; every replica of one version should use the same.
public struct ResolverIdentity: Hashable, Sendable, CustomStringConvertible {
    /// The resolver's name, without `@`.
    public let name: String
    /// Its version; raise it when the resolver would decide differently.
    public let version: String

    /// Creates an identity; an `@` in the name becomes `-`.
    public init(name: String, version: String) {
        self.name = String(name.map { $0 == "@" ? "-" : $0 })
        self.version = version
    }

    /// Reads `name@version`.
    init(parsing text: String) {
        let at = text.firstIndex(of: "@") ?? text.endIndex
        name = String(text[..<at])
        version = String(text[at...].dropFirst())
    }

    /// `name@version`.
    public var description: String { "\(name)@\(version)" }
}
