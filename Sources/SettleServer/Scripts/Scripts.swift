internal import SettleDatabase
internal import SettleScripting

/// The script workers of a server.
final class Scripts: Sendable {
    let pool: ScriptPool
    /// Threads for requests that wait for scripts. Each database may use a few of them, so that it doesn't block
    /// requests of other databases.
    let threads = WorkerPool(limit: 64, share: 8)

    init(_ options: ScriptOptions, log: ServerLog?) {
        var options = options
        if let log {
            let other = options.log
            options.log = { owner, line in
                let folder = owner.split(separator: " ").first.map(String.init) ?? owner
                let name = folder.split(separator: "/").last.map(String.init) ?? folder
                log.notice("script", ["database": DocumentStore.name(ofFolder: name) ?? name, "line": line])
                other(owner, line)
            }
        }
        pool = ScriptPool(options)
    }

    /// Ends the workers.
    func close() {
        pool.close()
        threads.close()
    }
}
