internal import Dispatch

/// How several processes use one database: by turns.
///
///     var options = DatabaseOptions()
///     options.sharing = ProcessSharing()
///     let database = try Database.open(path, options: options)      // in the app and in its widget
///
/// A process takes its turn at a call and keeps it for some hundredths of a second, or as long as nobody else calls. Then it
/// closes the files, and the next process opens them. So in each process calls work as in a database of its own, and wait
/// for other processes if need be. What another process writes is noticed within about a tenth of a second by observers and
/// live queries. A process that is not using the database holds no lock, as iOS demands of apps that it suspends.
///
/// A transaction or snapshot must not wait for another thread's calls, as these may wait for the next turn.
///
/// All processes must open the database so: one that opens it without sharing has it alone.
public struct ProcessSharing: Sendable {
    /// How long a call waits for another process before it throws ``DatabaseErrorCode/inUse``; 10 seconds by default.
    public var patience: Duration = .seconds(10)

    /// Creates the defaults.
    public init() {}

    /// Until when a call that begins now waits.
    var deadline: ContinuousClock.Instant { .now + patience }

    /// How long a process keeps its turn though another one waits.
    static let turn: Duration = .milliseconds(30)
    /// How long a process keeps its turn without using it.
    static let idle: Duration = .milliseconds(100)
    /// How often a process looks whether another one waits.
    static let lookWhenOpen: DispatchTimeInterval = .milliseconds(20)
    /// How often a process looks whether another one has written.
    static let lookWhenAway: DispatchTimeInterval = .milliseconds(100)
}
