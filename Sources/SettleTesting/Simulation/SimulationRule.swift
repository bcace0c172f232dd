/// The rules that a simulation checks.
public enum SimulationRule: String, Sendable, Hashable, CaseIterable, Error {
    /// No call throws that should succeed.
    case noErrors
    /// A rolled-back transaction leaves nothing behind.
    case nothingOfACrash
    /// After some rounds of exchanging everything and settling, no replica writes any more.
    case quiet
    /// All replicas have the same leaves, the same winner and the same content, and the same tree if nothing was
    /// stemmed.
    case sameEverywhere
    /// No conflict is left that a policy promised to settle.
    case settled
    /// Every acknowledged leaf has a successor or is still a leaf.
    case nothingLost
    /// Closed revisions were closed in favour of a kept one, or of a user's deletion.
    case superseded
    /// A document that no user deleted exists.
    case notVanished
    /// An edit that revived a deleted document does not lose against a deletion its author knew of; with stemmed
    /// paths that can't be known.
    case revived
    /// Replicas that settle the same leaves by the same pure policy write the same revisions, as predicted by a
    /// preview.
    case sameRevisions
    /// The policy that keeps all leaves writes nothing.
    case keepsAll
    /// If changes are stamped and settled by their times, each member ends with the latest of its changes, and no
    /// device stamps a later change with an earlier time.
    case latestStays
    /// The databases are sound.
    case sound
}
