/// What becomes of a document that was deleted here and edited there (SEMANTICS 166).
public enum DeletionRule: String, Sendable, CaseIterable {
    /// The edit stays and the document with it, as in CouchDB; the default, for nothing is lost by it.
    case editRevives
    /// The deletion stays, whenever the edit was made.
    case deletionWins
    /// Whatever was done last stays. A deletion that bears no moment, made by software that knows no clocks, does not win.
    case latestWins
}
