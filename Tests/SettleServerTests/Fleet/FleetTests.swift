import Dispatch
import SettleFleet
import SettlePlatform
import Testing

/// Fleets of devices that edit documents of one server: a seed that breaks a rule says how it is repeated.
///
/// They share a thread of their own, which their replicators alone leave. A run hardly ever waits, so on the threads of other tests'
/// tasks several runs would take all of them; and one that let those tasks go first would end last, since thousands of them come before
/// each of its turns. The limit of time is for all of them, because they begin together.
@Suite(.timeLimit(.minutes(60)), .ownThread) struct FleetTests {
    @Test func `a fleet becomes quiet and equal and loses nothing`() async throws {
        let failure = try await Fleet().failure(in: 0..<80)
        #expect(failure == nil, "\(failure?.description ?? ""); repeat it: settle-simulate --fleet --rounds 1 --seed N")
    }

    @Test(arguments: PlantedFault.allCases)
    func `a fault of the server is found within two thousand seeds`(fault: PlantedFault) async throws {
        let found = try await Fleet(FleetOptions(fault: fault)).failure(in: 0..<2000)
        let failure = try #require(found, "no seed finds \(fault.rawValue)")
        let without = try await Fleet().failure(in: failure.seed..<failure.seed + 1)
        #expect(without == nil, "seed \(failure.seed) breaks a rule without the fault, too")
    }

    @Test(
        arguments: [
            395, 486, 772, 889, 1103, 1728, 2257, 2704, 3108, 3851, 4170, 5283, 6823, 9689, 13684, 39897, 79046,
        ]
            as [UInt64])
    func `a seed that has found a fault of the server or of the models holds`(seed: UInt64) async throws {
        let failure = try await Fleet().failure(in: seed..<seed + 1)
        #expect(failure == nil, "\(failure?.description ?? "")")
    }

    @Test func `a failure is shown with as few steps as break the rule`() async throws {
        let fleet = try Fleet(FleetOptions(fault: .lostBlobs))
        let failure = try #require(try await fleet.failure(in: 0..<2000))
        let shrunk = try await fleet.shrink(failure)
        #expect(shrunk.rule == failure.rule && shrunk.seed == failure.seed)
        #expect(shrunk.story.count < failure.story.count && shrunk.devices.count <= failure.devices.count)
    }

    @Test func `a seed says the same when it is repeated`() async throws {
        let options = FleetOptions(fault: .unlistedBlobs)
        let first = try #require(try await Fleet(options).failure(in: 0..<2000))
        let second = try await Fleet(options).failure(in: first.seed..<first.seed + 1)
        #expect(second?.rule == first.rule && second?.devices == first.devices)
    }
}

/// Lets the tests of a suite run on one thread that other tests do not use.
private struct OwnThread: SuiteTrait, TestTrait, TestScoping {
    private static let thread = Result { try SerialThread() }
    var isRecursive: Bool { true }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(try Self.thread.get()) { try await function() }
    }
}

extension Trait where Self == OwnThread {
    fileprivate static var ownThread: Self { Self() }
}

/// Runs jobs in order on a thread of its own; a queue of Dispatch would use the threads of all tasks.
private final class SerialThread: TaskExecutor {
    private let jobs = Guarded<[UnownedJob]>([])
    private let count = DispatchSemaphore(value: 0)

    /// Starts the thread, which never ends.
    init() throws {
        try SystemThread.detach { [self] in
            while true {
                count.wait()
                let job = jobs.withLock { $0.removeFirst() }
                job.runSynchronously(on: asUnownedTaskExecutor())
            }
        }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        count.signal()
    }
}
