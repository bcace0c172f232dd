internal import SettlePlatform

/// Removes possible secrets from a request's first line before it is logged.
enum LogRedaction {
    /// Query parameters with harmless values: numbers, flags, revisions and keywords of the API.
    private static let harmless: Set<String> = [
        "rev", "revs", "revs_info", "open_revs", "atts_since", "attachments", "att_encoding_info", "conflicts",
        "deleted_conflicts", "latest", "local_seq", "meta", "new_edits", "batch", "include_docs", "descending", "limit",
        "skip", "feed", "filter", "heartbeat", "timeout", "since", "last-event-id", "style", "update_seq",
        "seq_interval",
        "inclusive_end", "stable", "stale", "update", "reduce", "group", "group_level", "sorted", "count",
        "ensure_full_commit",
        "q", "n", "view", "basic",
    ]

    /// The path and the query: names and values of other parameters become `*`, and so do credentials in URLs.
    static func text(_ target: RequestTarget) -> String {
        let path = URLRedaction.text(target.rawPath)
        if target.query.isEmpty { return path }
        let query = target.query.map { name, value in
            guard harmless.contains(name) else { return "*" }
            return value.isEmpty ? name : "\(name)=\(URLRedaction.text(PercentCoding.encode(value, keeping: .couchDB)))"
        }
        return path + "?" + query.joined(separator: "&")
    }
}
