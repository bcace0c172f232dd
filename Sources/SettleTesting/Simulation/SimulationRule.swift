/// What a simulation holds replicas to.
public enum SimulationRule: String, Sendable, Hashable, CaseIterable, Error {
    /// A call that should have gone well threw.
    case noErrors
    /// A transaction that was thrown away left something behind.
    case nothingOfACrash
    /// After some rounds of exchanging everything and settling, nobody writes any more.
    case quiet
    /// All replicas have the same leaves, the same winner and the same content, and the same tree where nothing was
    /// forgotten.
    case sameEverywhere
    /// No conflict is left that a policy promised to settle.
    case settled
    /// Every leaf that was ever acknowledged has a successor or is a leaf still.
    case nothingLost
    /// What was closed was closed in favour of something that is kept, or of a user's deletion.
    case superseded
    /// A document that nobody deleted is there.
    case notVanished
    /// An edit that brought a deleted document back does not give way to a deletion its author had seen; where paths
    /// were cut that can't be known.
    case revived
    /// Replicas that settle the same leaves by the same pure policy write the same revisions, those a preview told.
    case sameRevisions
    /// A policy that keeps all writes nothing.
    case keepsAll
    /// Where changes are stamped and settled by their moments, each member ends with the latest of its changes, and no
    /// device stamps a later change with an earlier moment.
    case latestStays
    /// The databases are sound.
    case sound
}
