/// The outcome of storing a revision at its target.
package enum StoreOutcome: Sendable {
    /// It is stored. A peer that does not distinguish reports this for a known revision too.
    case stored
    /// The target already had it.
    case known
    /// The target refuses it; the error says why and what to do. Retrying it unchanged does not help (SEMANTICS 205).
    case refused(PeerError)
    /// It could not be stored now, though others could; retrying may help.
    case failed(PeerError)
}
