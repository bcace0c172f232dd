#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// Notices that another process wrote to a database, without opening it: by the sizes and times of its files.
struct FileWatch {
    /// What the files look like.
    struct State: Equatable {
        fileprivate var parts: [Int64]
    }

    private let files: [String]

    init(_ folder: String) { files = ["/database.sqlite", "/database.sqlite-wal"].map { folder + $0 } }

    /// What the files look like now.
    var state: State {
        State(
            parts: files.flatMap { path -> [Int64] in
                var status = stat()
                guard stat(path, &status) == 0 else { return [-1] }
                #if canImport(Glibc)
                let time = status.st_mtim
                #else
                let time = status.st_mtimespec
                #endif
                return [Int64(status.st_size), Int64(time.tv_sec), Int64(time.tv_nsec)]
            })
    }

    /// Waits until the files look different.
    ///
    /// - Throws: ``CommandError/interrupted`` when Ctrl-C is pressed.
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
