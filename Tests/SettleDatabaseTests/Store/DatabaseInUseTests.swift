import Foundation
import Settle
import SettleTesting
import Testing

@Suite(.serialized) struct DatabaseInUseTests {
    @Test func `a database that another process has open is in use until that process ends`() throws {
        let folder = try TemporaryFolder()
        let store = try DocumentStore(path: folder.path)
        let created = try store.create("a")
        try created.add("a")
        created.close()
        let other = try OtherProcess(locking: folder("a.settle/lock"))
        #expect(code { try store.open("a") } == .inUse)
        #expect(code { try store.openOrCreate("a") } == .inUse)
        #expect(code { try store.delete("a") } == .inUse)
        #expect(try store.names() == ["a"])
        other.end()
        #expect(try store.open("a").document("a") != nil)
        try store.delete("a")
        #expect(try store.names() == [])
    }

    @Test func `another process can't take the lock of an open database`() throws {
        let folder = try TemporaryFolder()
        let database = try Database.create(folder("a.settle"))
        #expect(throws: Nonsense.self) { try OtherProcess(locking: folder("a.settle/lock")) }
        database.close()
        try OtherProcess(locking: folder("a.settle/lock")).end()
    }
}

/// A process that holds a lock on a file until it is stopped.
private struct OtherProcess {
    private var process = pid_t()

    init(locking path: String) throws {
        let script = """
            import fcntl, signal, sys
            file = open(sys.argv[1], "a")
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            open(sys.argv[1] + ".held", "w")
            signal.alarm(300)
            signal.pause()
            """
        let words: [UnsafeMutablePointer<CChar>?] = ["python3", "-c", script, path].map { (word: String) in strdup(word)
        }
        defer { for word in words { free(word) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        defer { posix_spawn_file_actions_destroy(&actions) }
        guard posix_spawnp(&process, "python3", &actions, nil, words + [nil], environ) == 0 else { throw Nonsense() }
        let child = process
        var hasEnded = false
        waitUntil("the other process has the lock, or has ended") {
            hasEnded = waitpid(child, nil, WNOHANG) != 0
            return hasEnded || FileManager.default.fileExists(atPath: path + ".held")
        }
        if hasEnded { throw Nonsense() }
        try FileManager.default.removeItem(atPath: path + ".held")
    }

    func end() {
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
    }
}
