/// A change on its way to be compared.
struct FlowRow: Sendable {
    /// Its number in the tracker.
    var number: Int
    /// Earlier changes of the same document that this one stands for too.
    var earlier: [Int] = []
    /// The change.
    var change: ChangedDocument
}
