/// Where a log goes.
public enum LogDestination: Sendable, Equatable {
    /// A file, which is gone on with if it is there.
    case file(String)
    /// An open file of the process: 1 for standard output, 2 for standard error.
    case descriptor(Int32)
}
