import SettleTesting
import Testing

/// The decisions of fault plans, without a proxy.
@Suite struct FaultPlanTests {
    private let requests = (0..<2000).map { number in
        (
            method: ["GET", "PUT", "POST"][number % 3],
            path: ["/db/d\(number)", "/db/_bulk_docs", "/db/_changes?a=b"][number % 3]
        )
    }

    @Test func `equal seeds give equal plans, and other seeds other plans`() {
        for seed in 0..<20 as Range<UInt64> {
            let faults = FaultPlan.random(seed: seed, rate: 0.3).faults(for: requests)
            #expect(FaultPlan.random(seed: seed, rate: 0.3).faults(for: requests) == faults)
            #expect(FaultPlan.random(seed: seed + 1, rate: 0.3).faults(for: requests) != faults)
        }
    }

    @Test func `a random plan has every kind with a weight, at its rate`() {
        let faults = FaultPlan.random(seed: 1, rate: 0.3).faults(for: requests)
        let kinds = Set(faults.map(\.kind))
        #expect(kinds == Set(Fault.Kind.allCases).subtracting([.flipBit]))
        #expect((500..<700).contains(faults.count { $0 != .none }))
        #expect(FaultPlan.random(seed: 1, rate: 0).faults(for: requests).allSatisfy { $0 == .none })
        let only = FaultPlan.random(seed: 1, rate: 1, weights: [.flipBit: 1, .delay: 0]).faults(for: requests)
        #expect(only.allSatisfy { $0.kind == .flipBit })
        #expect(FaultPlan.random(seed: 1, rate: 1, weights: [:]).faults(for: requests).allSatisfy { $0 == .none })
    }

    @Test func `delays and statuses stay within the given bounds`() {
        let plan = FaultPlan.random(seed: 4, rate: 1, longestPause: .milliseconds(10), statuses: [507])
        for fault in plan.faults(for: requests) {
            switch fault {
            case .delay(let time), .silence(let time), .refuse(let time):
                #expect(time > .zero && time <= .milliseconds(10))
            case .drip(let count, let pause): #expect(count > 0 && pause * count <= .milliseconds(10))
            case .answer(let status, _, _): #expect(status == 507)
            default: break
            }
        }
        let none = FaultPlan.random(seed: 4, rate: 1, weights: [.answer: 1], statuses: [])
        #expect(none.faults(for: requests).allSatisfy { $0 == .none })
    }

    @Test func `the fault of a request depends on its number and not on the requests before`() {
        let plan = FaultPlan.random(seed: 9, rate: 0.5)
        let others = requests.map { (method: "DELETE", path: $0.path + "/x") }
        #expect(plan.faults(for: others) == plan.faults(for: requests))
    }

    @Test func `a script covers the requests that match, and after its end no fault happens`() {
        let plan = FaultPlan.script([.duplicate, .none, .loseAnswer(by: .reset)]).only(on: "_bulk_docs").only(
            method: "PUT")
        let faults = plan.faults(for: requests)
        #expect(
            faults.prefix(9) == [.none, .duplicate, .none, .none, .none, .none, .none, .loseAnswer(by: .reset), .none])
        #expect(faults.dropFirst(9).allSatisfy { $0 == .none })
    }

    @Test func `a path pattern matches whole components, and no part of the query`() {
        let plan = FaultPlan.always(.duplicate).only(on: "_local")
        let paths = ["/db/_local/a", "/db/_local", "/db/_local_docs", "/db/a?x=/_local/", "/_local?x"]
        #expect(
            plan.faults(for: paths.map { ("GET", $0) }).map { $0 == .duplicate } == [true, true, false, false, true])
    }

    @Test func `a second plan decides on requests that the first does not match, and counts separately`() {
        let plan = FaultPlan.script([.duplicate]).only(method: "PUT")
            .otherwise(.script([.delay(.zero), .none, .flipBit(at: 1)]).only(method: "GET"))
        let methods = ["POST", "GET", "PUT", "PUT", "GET", "GET", "GET"]
        let expected: [Fault] = [.none, .delay(.zero), .duplicate, .none, .none, .flipBit(at: 1), .none]
        #expect(plan.faults(for: methods.map { ($0, "/") }) == expected)
    }

    @Test func `only the first requests meet faults`() {
        let plan = FaultPlan.always(.duplicate).only(method: "POST").first(2)
        let faults = plan.faults(for: requests)
        #expect(faults.count { $0 == .duplicate } == 2)
        #expect(faults[2] == .duplicate && faults[5] == .duplicate)
    }

    @Test func `a plan made of a function gets the same random numbers each time`() {
        let plan = FaultPlan("mine", seed: 5) { request, random in
            request.number == 0 ? .none : .flipBit(at: random.below(1000))
        }
        #expect(plan.faults(for: requests) == plan.faults(for: requests))
        #expect(Set(plan.faults(for: requests)).count > 500)
    }

    @Test func `plans and faults have readable descriptions`() {
        let faults: [Fault] = [
            .cut(.answer, after: 20, by: .reset), .delay(.milliseconds(2)), .drip(first: 3, pause: .microseconds(4)),
            .silence(.seconds(1)), .answer(status: 429, retryAfter: nil, body: .couchDB), .wrongLength(by: -3),
            .closeAfter(by: .close),
        ]
        #expect(
            faults.description
                == "[.cut(.answer, after: 20, by: .reset), .delay(.microseconds(2000)), "
                + ".drip(first: 3, pause: .microseconds(4)), .silence(.microseconds(1000000)), "
                + ".answer(status: 429, retryAfter: nil, body: .couchDB), .wrongLength(by: -3), .closeAfter(by: .close)]"
        )
        let plan = FaultPlan.random(seed: 7, rate: 0.5).only(on: "_bulk_docs").first(3).otherwise(.none)
        #expect(plan.description == ".random(seed: 7, rate: 0.5).only(on: \"_bulk_docs\").first(3) otherwise .none")
    }
}
