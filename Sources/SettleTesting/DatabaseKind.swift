/// The storage of a temporary database. The same tests run on every kind, to check that all behave alike.
public enum DatabaseKind: String, CaseIterable, Sendable, CustomStringConvertible {
    /// In a separate folder, which is removed afterwards.
    case file
    /// In memory.
    case memory

    /// The kind's name.
    public var description: String { rawValue }
}
