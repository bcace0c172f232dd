public import RevisionTree
public import SettleDatabase

/// Which documents of a source take part in a replication. A filter runs at the source (SEMANTICS 128).
public enum ReplicationFilter: Sendable {
    /// All of them, design documents too.
    case all
    /// Those with these ids.
    case documents([DocumentID])
    /// Those whose winner matches a selector.
    case selector(Selector)
    /// Those that a filter function of a design document passes: its name `designdoc/filter`, and the parameters of the
    /// query. A source of this process looks the name up among its registered filters.
    case named(String, parameters: [String: String] = [:])
    /// Those of some of Sync Gateway's channels (SEMANTICS 133).
    case channels([String])
}
