import CTestWidth
import Foundation
import Testing

/// The limit on concurrent tests is part of the test program.
struct TestWidthTests {
    @Test func `a test run sets how many tests may run at a time, however it is started`() {
        let width = ProcessInfo.processInfo.environment[String(cString: test_width_variable)]
        #expect(width.flatMap { Int($0) } != nil)
    }
}
