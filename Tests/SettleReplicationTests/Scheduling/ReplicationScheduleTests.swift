import Foundation
import SettleCore
import SettleHTTP
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleReplication

/// Who runs when there is room for a few.
@Suite struct ReplicationScheduleTests {
    /// What this thread has used of a processor: other tests' work does not count.
    private var processorTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    @Test(arguments: [1, 2])
    func `every order of seven events keeps to the rules`(room: Int) {
        var seen: Set<String> = []
        var problems: Set<String> = []
        var worlds = [ScheduleWorld(room: room)]
        for _ in 0..<7 {
            var next: [ScheduleWorld] = []
            for world in worlds {
                for event in world.events {
                    let after = world.after(event)
                    problems.formUnion(after.problems)
                    if seen.insert(after.key).inserted { next.append(after) }
                }
            }
            worlds = next
        }
        #expect(problems == [])
        #expect(seen.count > 5000)
    }

    @Test func `long runs of events keep to the rules`() {
        var random = SeededRandom(seed: 31)
        for room in [1, 2, 3] {
            var world = ScheduleWorld(room: room)
            for _ in 0..<5000 {
                let events = world.events.filter { if case .stopping = $0 { false } else { true } }
                guard let event = events.randomElement(using: &random) else { return }
                world = world.after(event)
            }
            #expect(Set(world.problems) == [])
        }
    }

    /// A schedule with continuous jobs, of which the first run.
    private func schedule(room: Int, jobs: Int) -> ReplicationSchedule {
        var schedule = ReplicationSchedule(room: room, turn: .seconds(10))
        for number in 0..<jobs {
            _ = schedule.handle(.added("\(number)", isContinuous: true, isRetried: true), at: .zero)
        }
        return schedule
    }

    @Test func `those that can't reach a peer make room first, then the oldest`() {
        var schedule = schedule(room: 3, jobs: 5)
        #expect(
            schedule.handle(.turn([1: .working, 2: .working, 3: .away]), at: .seconds(10)) == [
                .stop(run: 3), .stop(run: 1), .ring,
            ])
        #expect(schedule.handle(.ended(run: 3, .completed), at: .seconds(11)) == [.yielded("2"), .start("3", run: 4)])
    }

    @Test func `a run that has done nothing is left alone for a minute`() {
        var schedule = schedule(room: 1, jobs: 2)
        #expect(schedule.handle(.turn([1: .beginning]), at: .seconds(59)) == [.ring])
        #expect(schedule.handle(.turn([1: .beginning]), at: .seconds(60)) == [.stop(run: 1), .ring])
    }

    @Test func `failures in a row are counted until a turn ends well`() {
        var schedule = schedule(room: 1, jobs: 1)
        for failures in 1...3 {
            #expect(
                schedule.handle(.ended(run: failures, .failed), at: .zero) == [
                    .retry("0", run: failures, failures: failures)
                ])
            #expect(schedule.handle(.retryDue("0", run: failures), at: .zero) == [.start("0", run: failures + 1)])
            #expect(schedule.handle(.retryDue("0", run: failures), at: .zero) == [])
        }
        _ = schedule.handle(.added("1", isContinuous: true, isRetried: true), at: .zero)
        _ = schedule.handle(.turn([4: .working]), at: .seconds(10))
        #expect(schedule.handle(.ended(run: 4, .completed), at: .seconds(10)).first == .yielded("0"))
        _ = schedule.handle(.ended(run: 5, .failed), at: .seconds(11))
        #expect(schedule.handle(.ended(run: 6, .failed), at: .seconds(11)).contains(.retry("0", run: 6, failures: 1)))
    }

    /// A client for a server that asks for a delay.
    private struct BusyClient: HTTPTransport {
        static let delay = Duration.milliseconds(300)

        func send(_ request: HTTPRequest) async throws -> HTTPResponse {
            throw CouchDBError(
                status: 503, error: "busy", reason: "later", method: request.method, path: request.url.path,
                retryAfter: Self.delay)
        }
    }

    @Test(.timeLimit(.minutes(5))) func `a failed run is not repeated before the peer's delay is over`() async throws {
        var retry = ReplicationRetryPolicy()
        retry.firstDelay = .milliseconds(1)
        let scheduler = ReplicationScheduler(room: 1, turn: .seconds(60), retry: retry)
        let starts = Guarded<[ContinuousClock.Instant]>([])
        scheduler.observe { notice in
            if case .started = notice { starts.withLock { $0.append(.now) } }
        }
        let document = try ReplicationDocument([
            "source": "http://127.0.0.1:1/a", "target": "http://127.0.0.1:1/b", "create_target": true,
            "continuous": true,
        ])
        let begin = ContinuousClock.now
        scheduler.add(ReplicationJob(id: "a", document: document, origin: nil, user: nil, client: BusyClient()))
        await eventually("it runs again") { starts.withLock { $0.count } > 1 }
        scheduler.remove("a")
        let second = try #require(starts.withLock { $0.dropFirst().first })
        #expect(second - begin >= BusyClient.delay)
    }

    @Test func `an interrupted run of two minutes resets the failure count`() {
        var schedule = schedule(room: 1, jobs: 1)
        let endings: [(ReplicationSchedule.Ending, seconds: Int, failures: Int)] = [
            (.failed, 0, 1), (.interrupted, 119, 2), (.failed, 120, 3), (.interrupted, 120, 1), (.failed, 0, 2),
        ]
        var now = Duration.zero
        for (place, (ending, seconds, failures)) in endings.enumerated() {
            now += .seconds(seconds)
            let run = place + 1
            #expect(
                schedule.handle(.ended(run: run, ending), at: now) == [.retry("0", run: run, failures: failures)])
            #expect(schedule.handle(.retryDue("0", run: run), at: now) == [.start("0", run: run + 1)])
        }
    }

    @Test func `ten thousand take turns in their order, and the cost of an event does not grow with them`() {
        var schedule = schedule(room: 10, jobs: 10_000)
        var starts = Array(repeating: 1, count: 10) + Array(repeating: 0, count: 9990)
        var (runs, now) = (Array(1...10), Duration.zero)
        let begin = processorTime
        for _ in 0..<2000 {
            now += .seconds(10)
            let stopped = schedule.handle(
                .turn(Dictionary(uniqueKeysWithValues: runs.map { ($0, .working) })), at: now)
            #expect(stopped == runs.map { .stop(run: $0) } + [.ring])
            var next: [Int] = []
            for run in runs {
                for case .start(let job, let run) in schedule.handle(.ended(run: run, .completed), at: now) {
                    starts[Int(job) ?? 0] += 1
                    next.append(run)
                }
            }
            runs = next
        }
        #expect((starts.min() ?? 0) >= 2 && (starts.max() ?? 9) <= 3)
        // 22,000 events: a walk over all jobs for each would take minutes.
        #expect(processorTime - begin < .seconds(20))
    }

    @Test func `jobs that come and go while there is no room leave nothing`() {
        var schedule = schedule(room: 1, jobs: 1)
        for _ in 0..<10_000 {
            _ = schedule.handle(.added("x", isContinuous: true, isRetried: true), at: .zero)
            _ = schedule.handle(.removed("x"), at: .zero)
        }
        #expect(schedule.waitingCount == 0 && schedule.queue.count < 100)
    }
}
