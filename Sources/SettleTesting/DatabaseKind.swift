/// Where a temporary database is kept. The same tests run over every kind, so that none behaves in a way of its own.
public enum DatabaseKind: String, CaseIterable, Sendable, CustomStringConvertible {
    /// In a folder of its own, which is removed afterwards.
    case file
    /// In memory.
    case memory

    /// The kind's name.
    public var description: String { rawValue }
}
