import Foundation
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleDatabase

/// A folder's lock that another process has.
struct FolderLockTests {
    /// The lock of a folder, taken as by a process of another id.
    private func lock(_ folder: TemporaryFolder, as process: pid_t) throws -> FileLock {
        let lock = try #require(try FileLock(path: folder("server.lock")))
        lock.writeLine("\(process)")
        return lock
    }

    @Test func `a server waits for the lock that a process keeps which a killed server was starting`() throws {
        let folder = try TemporaryFolder()
        let ended = try BuiltTool("settle").start(["--version"])
        ended.waitForEnd()
        let kept = try lock(folder, as: ended.processIdentifier)
        let (outcome, isDone) = (Guarded<Result<Void, any Error>?>(nil), DispatchSemaphore(value: 0))
        let path = folder.path
        let taking = try SystemThread {
            let result = Result { try FolderLock(path).reserve() }
            outcome.withLock { $0 = result }
            isDone.signal()
        }
        #expect(isDone.wait(timeout: .now() + 0.5) == .timedOut)
        kept.release()
        taking.join()
        try #require(outcome.withLock { $0 }).get()
        let line = try String(contentsOfFile: folder("server.lock"), encoding: .utf8)
        #expect(line == "\(getpid())\n")
    }

    @Test func `a server does not wait for one that is running`() throws {
        let folder = try TemporaryFolder()
        let kept = try lock(folder, as: getppid())
        #expect {
            try FolderLock(folder.path).reserve()
        } throws: { error in
            (error as? DatabaseError)?.code == .inUse && "\(error)".contains("process \(getppid()),")
        }
        kept.release()
    }
}
