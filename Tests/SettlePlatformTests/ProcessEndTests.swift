import Foundation
import SettleTesting
import Testing

/// Tests wait for processes, but not for ever.
struct ProcessEndTests {
    @Test(arguments: [("exit 3", Int32(3)), ("kill -KILL $$", 137)])
    func `the end of a process gives its status as a shell has it`(script: String, status: Int32) throws {
        #expect(try shell(script).waitForEnd() == status)
    }

    @Test func `a stopped process is killed when the time for its end is over`() throws {
        #expect(try shell("kill -STOP $$").waitForEnd(within: 0.5) == 137)
    }

    private func shell(_ script: String) throws -> Process {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", script]
        try process.run()
        return process
    }
}
