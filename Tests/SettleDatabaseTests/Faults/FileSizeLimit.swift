import SettlePlatform

/// The largest file this process may write, for child processes of tests: writing past it is an error of the system.
enum FileSizeLimit {
    struct Broken: Error, CustomStringConvertible { let description: String }

    static func set(_ bytes: UInt) throws {
        signal(SIGXFSZ, SIG_IGN)
        try change { _ in UInt64(bytes) }
    }

    static func lift() throws { try change { highest in highest } }

    /// Throws, and so ends the child process as a failure, unless something holds.
    static func check(_ holds: Bool, _ words: String) throws {
        if !holds { throw Broken(description: words) }
    }

    private static func change(_ limit: (_ highest: UInt64) -> UInt64) throws {
        guard let (_, highest) = ResourceLimit.fileSize.value else { throw Broken(description: "no limit can be read") }
        guard ResourceLimit.fileSize.set(limit(highest), highest: highest) else {
            throw Broken(description: "no limit can be set")
        }
    }
}
