/// One step of a schedule.
///
/// A step has an action, a replica, and a number that decides all details, such as which leaf is edited. So it is
/// valid after any earlier steps, and any step of a schedule can be removed.
public struct SimulationStep: Sendable, Hashable {
    /// The action.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A user edits the winner, or creates the document.
        case edit
        /// A user edits a leaf other than the winner.
        case editLoser
        /// A user adds, changes or removes an attachment.
        case attach
        /// A user deletes the winner, and so the document unless there are other leaves.
        case delete
        /// A user writes a deleted document again.
        case revive
        /// A user edits and then deletes, so that the deletion's parent is an edit that no other replica has seen.
        case editAndDelete
        /// A user settles a conflict by hand as with CouchDB: by tombstones without a mark.
        case closeByHand
        /// A replica gets revisions from another one immediately, perhaps only in part, twice, or in another order.
        case exchange
        /// A replica reads revisions from another one, which arrive later or never.
        case send
        /// A message that was sent arrives, perhaps for the second time.
        case deliver
        /// The replicas are split into two groups that can't communicate.
        case part
        /// All replicas can communicate again.
        case meet
        /// A replica settles the conflict of one document.
        case settle
        /// A replica settles all conflicts.
        case settleAll
        /// Software without clocks edits the winner.
        case editForeign
        /// A replica's wall clock is set forward or back, by up to a day.
        case setClock
        /// A replica removes old contents by compaction.
        case compact
        /// A replica keeps only a few revisions of each branch from now on.
        case limit
        /// A replica's database is closed and opened again, where it is in a file.
        case reopen
    }

    /// The action.
    public let kind: Kind
    /// The replica that runs it.
    public let replica: Int
    /// The other replica that takes part.
    public let peer: Int
    /// The document.
    public let document: Int
    /// Whether the replica crashes in the middle of the transaction, which is rolled back.
    public let crashes: Bool
    /// Decides the details.
    public let number: UInt64
}
