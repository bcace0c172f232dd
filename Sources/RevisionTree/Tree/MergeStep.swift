/// One step of merging the leaves of a document: some versions on their base.
package struct MergeStep: Hashable, Sendable {
    /// The newest revision that all of them have seen; `nil` where there is none.
    package let base: RevisionID?
    /// Which leaves, as positions in the list given, ascending; the first stands for the result from then on.
    package let versions: [Int]
    /// Whether ``base`` is known to be the newest: no revision above it that several of them may have seen was forgotten.
    /// Without a base, whether their whole past is known, down to the first generation.
    package let isCertain: Bool
}
