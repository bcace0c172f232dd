public import SettleCore
public import SettleDatabase

/// Which documents of a source take part in a replication. A filter runs at the source (SEMANTICS 128).
public enum ReplicationFilter: Sendable {
    /// All documents, including design documents.
    case all
    /// Documents with these ids.
    case documents([DocumentID])
    /// Documents whose winner matches a selector without `$text`, which needs the index of a query. A replication with
    /// `$text` fails with ``PeerError/Code/badRequest``.
    case selector(MangoSelector)
    /// Documents that pass a filter function of a design document: its name `designdoc/filter`, and query parameters of
    /// any JSON type. `req.query` has strings as they are and other values as JSON text. A source of this process looks
    /// up the name among its registered filters, which get the values as they are.
    case named(String, parameters: [String: JSONValue] = [:])
    /// Documents in some of Sync Gateway's channels (SEMANTICS 133).
    case channels([String])
}

extension ReplicationFilter {
    /// Checks that a filter can be applied to one document at a time.
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
