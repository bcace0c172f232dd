/// What became of a revision at its target.
public enum StoreOutcome: Sendable {
    /// It is stored. A peer that does not tell says this for a known one too.
    case stored
    /// It was known.
    case known
    /// The target will not have it; the reason says why and what to do. Trying again as it is does not help
    /// (SEMANTICS 205).
    case refused(PeerError)
    /// It could not be stored now, though others could; trying again may help.
    case failed(PeerError)
}
