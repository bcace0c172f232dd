/// A revision that was asked for and is missing.
struct MissingRevision: Error {
    /// The revision, as it was asked for.
    let revision: String
}
