import Dispatch
import Foundation
import Settle
import Testing

@testable import SettleServer

@Suite struct PasswordHasherTests {
    @Test func `a few passwords are hashed at once, a few wait, and the rest are refused`() throws {
        let hasher = PasswordHasher(iterations: 1, places: 1, seats: 1)
        let (entered, leave, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchGroup())
        for _ in 0..<2 {
            done.enter()
            Thread.detachNewThread {
                _ = try? hasher.verify([1], against: nil, of: "a") {
                    entered.signal()
                    _ = leave.wait(timeout: .now() + 60)
                }
                done.leave()
            }
        }
        #expect(entered.wait(timeout: .now() + 60) == .success)
        for _ in 0..<60_000 where hasher.waiting == 0 { usleep(1000) }
        // One is running and one waits, so a third is refused.
        #expect { try hasher.verify([1], against: nil, of: "a") {} } throws: { ($0 as? HTTPError)?.status == 503 }
        for _ in 0..<2 { leave.signal() }
        #expect(done.wait(timeout: .now() + 60) == .success)
        #expect(try hasher.hash([1]).verify([1]))
    }

    @Test func `a cached verification needs no hashing, and accepts only the right password`() throws {
        let hasher = PasswordHasher(iterations: 1)
        let hash = try hasher.hash([1])
        #expect(try hasher.verify([1], against: hash, of: "a") {})
        #expect(try hasher.verify([1], against: hash, of: "a") { throw Enough() })
        #expect(throws: Enough.self) { try hasher.verify([2], against: hash, of: "a") { throw Enough() } }
        #expect(try !hasher.verify([2], against: hash, of: "a") {})
        #expect(try !hasher.verify([1], against: nil, of: "a") {})
    }

    private struct Enough: Error {}
}
