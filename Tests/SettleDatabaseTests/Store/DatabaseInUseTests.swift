import Foundation
import Settle
import SettleTesting
import Testing

@Suite(.serialized) struct DatabaseInUseTests {
    @Test func `a database another process has open is in use, and free when that ends`() throws {
        let folder = try TemporaryFolder()
        let store = try Store(path: folder.path)
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

/// A process that holds a lock on a file until it is told to end.
private struct OtherProcess {
    private let process = Process()

    init(locking path: String) throws {
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "python3", "-c",
            """
            import fcntl, sys, time
            try: fcntl.flock(file := open(sys.argv[1], "a"), fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError: sys.exit(print("taken", flush=True))
            print("locked", flush=True)
            time.sleep(60)
            """, path,
        ]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        try process.run()
        let said = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard said == "locked\n" else {
            process.waitUntilExit()
            throw Nonsense()
        }
    }

    func end() {
        process.terminate()
        process.waitUntilExit()
    }
}
