/// One step of merging the leaves of a document: some versions and their base.
package struct MergeStep: Hashable, Sendable {
    /// The newest common ancestor of all versions; `nil` if there is none.
    package let base: RevisionID?
    /// The leaves, as ascending positions in the given list; the first stands for the result from then on.
    package let versions: [Int]
    /// Whether ``base`` is known to be the newest: no newer common ancestor can have been stemmed. Without a base,
    /// whether the full history is known, down to the first generation.
    package let isCertain: Bool
}
