/// One thing that happens in a schedule.
///
/// A step says what is done and by whom, and carries a number that decides all details, such as which leaf is edited. So it
/// means something whatever happened before, and any step of a schedule can be left out.
public struct SimulationStep: Sendable, Hashable {
    /// What is done.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A user edits the winner, or creates the document.
        case edit
        /// A user edits another leaf than the winner.
        case editLoser
        /// A user adds, changes or removes an attachment.
        case attach
        /// A user deletes the winner, and with it the document unless there are other leaves.
        case delete
        /// A user writes a deleted document again.
        case revive
        /// A user edits and deletes at once, so that the deletion stands on an edit nobody else has seen.
        case editAndDelete
        /// A user settles a conflict by hand as one does with CouchDB: by tombstones without a mark.
        case closeByHand
        /// A replica gets what another one has, at once, perhaps in part, twice, or in another order.
        case exchange
        /// A replica reads what another one has, which arrives later or never.
        case send
        /// Something that was sent arrives, perhaps for the second time.
        case deliver
        /// The replicas fall into two groups that don't hear of each other.
        case part
        /// All replicas hear of each other again.
        case meet
        /// A replica settles the conflict of one document.
        case settle
        /// A replica settles all conflicts.
        case settleAll
        /// Software that knows no clocks edits the winner.
        case editForeign
        /// A replica's wall clock is put forward or back, by up to a day.
        case setClock
        /// A replica lets go of old contents.
        case compact
        /// A replica keeps only a few revisions of each branch from now on.
        case limit
        /// A replica's database is closed and opened again, where it is in a file.
        case reopen
    }

    /// What is done.
    public let kind: Kind
    /// The replica that does it.
    public let replica: Int
    /// The other replica that takes part.
    public let peer: Int
    /// The document.
    public let document: Int
    /// Whether the replica crashes in the middle of the transaction, so that nothing of it stays.
    public let crashes: Bool
    /// What decides the details.
    public let number: UInt64
}
