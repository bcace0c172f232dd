internal import SettleDatabase

/// What happens to a flow; see ``Flow``.
enum FlowEvent: Sendable {
    /// It begins.
    case begin
    /// Changes were read, or not.
    case changes(Int, Result<ChangesPage, PeerError>)
    /// Changes were compared with what the target has, or not.
    case differences(Int, Result<[RevisionsDiff], PeerError>)
    /// Revisions were fetched, or not, and how long it took.
    case revisions(Int, Result<[RevisionAnswer], PeerError>, took: Duration)
    /// Revisions were stored, or not.
    case outcomes(Int, Result<[StoreOutcome], PeerError>)
    /// Peers were looked for, and are there or not.
    case probed(Int, Result<Void, PeerError>)
    /// The time has come that a call was to wait for.
    case time(Int)
    /// The network changed: what waits for another attempt need not wait, and who was there may not be.
    case network
    /// What is here is to be stored, and nothing else to be begun.
    case stop
}
