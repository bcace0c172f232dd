internal import Settle

/// The revisions that a replica wrote to settle a conflict.
struct SettlingAnswer {
    let replica: Int
    let written: [RevisionID]
}
