import Dispatch
import SettleHTTP
import SettlePlatform
import Testing

@testable import SettleServer

/// Verifying passwords: few at a time, in turns, each once.
@Suite(.timeLimit(.minutes(5))) struct PasswordHasherTests {
    /// A hasher whose only place is taken until it is released.
    private final class Held {
        let hasher: PasswordHasher
        private let leave = DispatchSemaphore(value: 0)

        init(seats: ClosedRange<Int>) {
            hasher = PasswordHasher(iterations: 1, places: 1, seats: seats)
            let entered = DispatchSemaphore(value: 0)
            let seat = PasswordHasher.Seat(address: "first", name: "first", isKnown: true)
            hasher.verify(
                [0], against: nil, seat,
                precheck: { [leave] in
                    entered.signal()
                    leave.wait()
                }, taker: { _ in })
            entered.wait()
        }

        func letGo() { leave.signal() }
    }

    /// The outcomes of logins, in their order.
    private final class Outcomes: Sendable {
        private let all = Monitor<[(name: String, result: Result<Bool, any Error>)]>([])

        func add(_ name: String) -> PasswordHasher.Taker {
            { result in self.all.update { $0.append((name, result)) } }
        }

        /// The names, once there are this many.
        func names(_ count: Int) -> [String] {
            all.wait { $0.count >= count ? $0.map(\.name) : nil }
        }

        func error(of name: String) -> HTTPError? {
            all.withLock { all in
                guard case .failure(let error)? = all.first(where: { $0.name == name })?.result else { return nil }
                return error as? HTTPError
            }
        }
    }

    private static func seat(_ address: String, _ name: String, isKnown: Bool = true) -> PasswordHasher.Seat {
        PasswordHasher.Seat(address: address, name: name, isKnown: isKnown)
    }

    @Test func `equal credentials are verified once, however many wait`() throws {
        let held = Held(seats: 1...1)
        let outcomes = Outcomes()
        let derivations = Guarded(0)
        let hash = PasswordHash(of: [1], iterations: 1)
        for number in 0..<2000 {
            held.hasher.verify(
                [1], against: hash, Self.seat("10.0.0.\(number % 250)", "anna"),
                precheck: { derivations.withLock { $0 += 1 } }, taker: outcomes.add("anna"))
        }
        #expect(held.hasher.waiting == 1)
        held.letGo()
        #expect(outcomes.names(2000).count == 2000)
        #expect(outcomes.error(of: "anna") == nil)
        // Only the first login that may succeed is checked.
        #expect(derivations.withLock { $0 } == 1)
    }

    @Test func `addresses take turns, and the names of one address`() {
        let held = Held(seats: 100...100)
        let outcomes = Outcomes()
        func add(_ address: String, _ name: String, _ password: UInt8) {
            held.hasher.verify(
                [password], against: PasswordHash(of: [9], iterations: 1), Self.seat(address, name), precheck: {},
                taker: outcomes.add("\(address) \(name) \(password)"))
        }
        for password in 1...3 as ClosedRange<UInt8> { add("a", "x", password) }
        add("a", "y", 1)
        add("b", "z", 1)
        held.letGo()
        #expect(outcomes.names(5) == ["a x 1", "b z 1", "a y 1", "a x 2", "a x 3"])
    }

    @Test func `names without an account wait until no account does`() {
        let held = Held(seats: 100...100)
        let outcomes = Outcomes()
        for number in 0..<10 {
            held.hasher.verify(
                [1], against: nil, Self.seat("a", "stranger\(number)", isKnown: false), precheck: {},
                taker: outcomes.add("stranger"))
        }
        held.hasher.verify(
            [1], against: PasswordHash(of: [1], iterations: 1), Self.seat("a", "anna"), precheck: {},
            taker: outcomes.add("anna"))
        held.letGo()
        #expect(outcomes.names(11).first == "anna")
    }

    @Test func `one address can't take all seats`() throws {
        let held = Held(seats: 10...10)
        let outcomes = Outcomes()
        let hash = PasswordHash(of: [9], iterations: 1)
        for password in 0..<12 as Range<UInt8> {
            held.hasher.verify(
                [password], against: hash, Self.seat("a", "x"), precheck: {}, taker: outcomes.add("a \(password)"))
        }
        // The last two found no seat.
        #expect(outcomes.names(2) == ["a 10", "a 11"])
        for number in 0..<4 {
            held.hasher.verify(
                [100 + UInt8(number)], against: hash, Self.seat("b\(number)", "x"), precheck: {},
                taker: outcomes.add("b"))
        }
        #expect(outcomes.names(6).suffix(4).allSatisfy { $0.hasPrefix("a ") })
        held.letGo()
        #expect(outcomes.names(16).count { $0 == "b" } == 4)
        #expect(outcomes.error(of: "b") == nil)
    }

    @Test func `refused logins are asked to try again at different times`() throws {
        let held = Held(seats: 1...1)
        let outcomes = Outcomes()
        for number in 0..<500 {
            held.hasher.verify(
                [1], against: PasswordHash(of: [1], iterations: 1), Self.seat("a", "u\(number)"), precheck: {},
                taker: outcomes.add("\(number)"))
        }
        let names = outcomes.names(499)
        let delays = try names.map { name -> Int in
            let error = try #require(outcomes.error(of: name))
            #expect(error.status == 503)
            return try #require(error.headers["Retry-After"].flatMap { Int($0) })
        }
        #expect(delays.allSatisfy { (1...120).contains($0) })
        // Later logins are asked to try again later, about when it would be their turn.
        #expect(Set(delays).count > 20)
        held.letGo()
    }

    @Test func `a cached verification needs no hashing, and accepts only the right password`() throws {
        let hasher = PasswordHasher(iterations: 1)
        let hash = try hasher.hash([1])
        #expect(try hash.verify([1]))
        #expect(try hasher.verify([1], against: hash, of: "a"))
        #expect(try hasher.verify([1], against: hash, of: "a") { throw Enough() })
        #expect(throws: Enough.self) { try hasher.verify([2], against: hash, of: "a") { throw Enough() } }
        #expect(try !hasher.verify([2], against: hash, of: "a"))
        #expect(try !hasher.verify([1], against: nil, of: "a"))
    }

    private struct Enough: Error {}
}
