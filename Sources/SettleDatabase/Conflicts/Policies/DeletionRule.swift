/// What happens to a document that was concurrently deleted and edited (SEMANTICS 166).
public enum DeletionRule: String, Sendable, CaseIterable {
    /// The edit stays and the document with it, as in CouchDB; the default, because it loses nothing.
    case editRevives
    /// The deletion stays, regardless of the edit's time.
    case deletionWins
    /// The later one stays. A deletion without a time, made by software without clocks, does not win.
    case latestWins
}
