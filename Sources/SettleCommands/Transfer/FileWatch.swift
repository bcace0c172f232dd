internal import SettlePlatform

/// Detects that another process wrote to a database, without opening it, by the sizes and times of its files.
struct FileWatch {
    /// The state of the files.
    struct State: Equatable {
        fileprivate var files: [FileStatus?]
    }

    private let files: [String]

    init(_ folder: String) { files = ["/database.sqlite", "/database.sqlite-wal"].map { folder + $0 } }

    /// The current state of the files.
    var state: State { State(files: files.map { FileStatus(path: $0) }) }

    /// Waits until the files change.
    ///
    /// - Throws: ``CommandError/interrupted`` if Ctrl-C is pressed.
    func waitForChange(from old: State) throws {
        repeat { try pause() } while state == old
    }

    /// Waits a moment.
    func pause() throws {
        for _ in 0..<10 {
            try Interruption.check()
            usleep(50_000)
        }
        try Interruption.check()
    }
}
