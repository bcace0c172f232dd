import Foundation
import SettleTesting
import Testing

/// A few rounds of the crash test in every test run; `make crash-test` runs more.
@Suite struct CrashRoundTests {
    // SEMANTICS 32, 72
    @Test func `acknowledged writes survive a kill`() throws {
        let tool = BuiltTool("CrashTool")
        let (status, output) = try tool.run(["drive", "5", "\(UInt64.random(in: 0..<1_000_000))"])
        #expect(status == 0, "\(output)")
        #expect(output.contains("5 passed, 0 failed"), "\(output)")
    }
}
