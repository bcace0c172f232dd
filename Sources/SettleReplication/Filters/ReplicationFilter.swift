public import RevisionTree
public import SettleDatabase

/// Which documents of a source take part in a replication. A filter runs at the source (SEMANTICS 128).
public enum ReplicationFilter: Sendable {
    /// All of them, design documents too.
    case all
    /// Those with these ids.
    case documents([DocumentID])
    /// Those whose winner matches a selector, which has no `$text`: only the indexes of a query know what that finds. A replication
    /// with one fails with ``PeerError/Code/badRequest``.
    case selector(Selector)
    /// Those that a filter function of a design document passes: its name `designdoc/filter`, and the parameters of the
    /// query, of any JSON type: in `req.query` a text is itself, and any other value is its JSON. A source of this process looks
    /// the name up among its registered filters, which get the values as they are.
    case named(String, parameters: [String: JSON] = [:])
    /// Those of some of Sync Gateway's channels (SEMANTICS 133).
    case channels([String])
}

extension ReplicationFilter {
    /// Sees that a filter can be asked of one document at a time.
    ///
    /// - Throws: ``PeerError`` with code `badRequest` for a selector with `$text`.
    func check() throws {
        guard case .selector(let selector) = self, let search = selector.searches.first else { return }
        throw PeerError(
            .badRequest,
            """
            the selector of the filter asks for the words "\(search)" by $text, which only a query with an index of texts \
            answers; filter by members of the documents, or by a registered function
            """, status: 400)
    }
}
