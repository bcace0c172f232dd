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

    /// A process of this one that has ended.
    private func endedProcess(isCollected: Bool) throws -> pid_t {
        var process: pid_t = 0
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("true"), nil]
        defer { free(arguments[0]) }
        try #require(posix_spawnp(&process, "true", nil, nil, &arguments, nil) == 0)
        var information = siginfo_t()
        while waitid(P_PID, id_t(process), &information, isCollected ? WEXITED : WEXITED | WNOWAIT) != 0 {
            try #require(errno == EINTR)
        }
        return process
    }

    @Test(arguments: [true, false])
    func `a server waits for the lock that a process keeps which a killed server was starting`(
        _ isCollected: Bool
    ) throws {
        let folder = try TemporaryFolder()
        let ended = try endedProcess(isCollected: isCollected)
        defer { if !isCollected { waitpid(ended, nil, 0) } }
        let kept = try lock(folder, as: ended)
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
