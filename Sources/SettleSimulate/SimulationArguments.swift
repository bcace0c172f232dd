internal import SettleFleet
internal import SettleTesting

/// The parsed command line of `settle-simulate`.
struct SimulationArguments {
    /// The problem with a command line.
    struct Failure: Error {
        let message: String
    }

    private(set) var seed = 1
    private(set) var rounds = 1000
    private(set) var options = SimulationOptions()
    private(set) var isJSON = false
    /// Whether to simulate a fleet instead.
    private(set) var isFleet = false
    private(set) var fault: PlantedFault?
    /// Whether to continue after a seed that breaks a rule.
    private(set) var goesOn = false
    /// The number of fleets that run concurrently.
    private(set) var jobs = 1
    private(set) var wantsHelp = false
    /// The options to repeat in the command of a replay, besides `--fleet`.
    private var repeated: [String] = []

    static let help = """
        settle-simulate: try random schedules of edits, exchanges, crashes and settling on real databases

        Usage: settle-simulate [options]

        Each schedule lets some replicas in memory edit, delete, exchange in part, crash, forget and settle. Then all
        exchange everything and settle until no replica writes any more. Nothing may be lost then, and all must agree.
        A schedule that breaks a rule is shrunk, and shown with the seed that replays it. Options that are not given are
        drawn from the seed.

        Options
          --seed N        the seed of the first schedule; the others have those that follow (default 1)
          --rounds N      how many schedules (default 1000)
          --replicas N    how many replicas, from 2 to 8
          --policy NAME   the policy of all replicas, such as threeWayMerge
          --clocks        stamp the users' changes by wall clocks that are a day apart and are put forward and back
          --files         keep the databases in files, where a crash is a real reopening
          --fleet         simulate a server instead, with models of Couchbase Lite's replicator, Settle's devices, and clients of
                          CouchDB's API
          --fault NAME    a fleet whose server has a fault, which must be found
          --jobs N        with a fleet, how many run beside each other, from 1 to 64 (default 1)
          --go-on         with a fleet, go on after a seed that breaks a rule, and say of each which one
          --json          write {"ok":bool,"schedules":N,"steps":N,"revisions":N,"by_settling":N,"most_rounds":N,"left":N,
                          "failure":{"seed":N,"rule":…,"message":…,"policies":[name …],"story":[text …]} or null}
          -h, --help      show this text

        Examples
          settle-simulate
          settle-simulate --seed 7 --replicas 5 --rounds 100000 --policy threeWayMerge

        The exit code is 0 when all rules hold, 1 when one is broken, 2 for a wrong command line.
        """

    init(_ words: [String]) throws(Failure) {
        var rest = words[...]
        while let word = rest.popFirst() {
            switch word {
            case "--help", "-h": wantsHelp = true
            case "--json": isJSON = true
            case "--fleet": isFleet = true
            case "--go-on": goesOn = true
            case "--files":
                options.kind = .file
                repeated.append(word)
            case "--clocks":
                options.attributeClocks = true
                repeated.append(word)
            case "--seed", "--rounds", "--replicas", "--policy", "--fault", "--jobs":
                guard let value = rest.popFirst() else { throw Failure(message: "\(word) needs a value") }
                try set(word, value)
            default: throw Failure(message: "there is no option \(word)")
            }
        }
        guard seed <= Int.max - rounds else { throw Failure(message: "--seed is too large") }
        let others = ["--json", "--files", "--clocks", "--replicas", "--policy"].filter(words.contains)
        if isFleet, let other = others.first { throw Failure(message: "\(other) is not for a fleet") }
        if !isFleet, let own = ["--go-on", "--jobs"].filter(words.contains).first {
            throw Failure(message: "\(own) is for a fleet: add --fleet")
        }
    }

    private mutating func set(_ option: String, _ value: String) throws(Failure) {
        switch option {
        case "--seed": seed = try Self.number(option, value, 0...Int.max)
        case "--rounds": rounds = try Self.number(option, value, 1...Int.max)
        case "--jobs": jobs = try Self.number(option, value, 1...64)
        case "--replicas":
            options.replicas = try Self.number(option, value, 2...8)
            repeated += [option, value]
        case "--fault":
            fault = PlantedFault(rawValue: value)
            guard fault != nil else {
                let names = PlantedFault.allCases.map(\.rawValue).joined(separator: ", ")
                throw Failure(message: "--fault takes one of \(names), not \"\(value)\"")
            }
            isFleet = true
            repeated += [option, value]
        default:
            guard let policy = SimulatedPolicy.named(value) else {
                let names = SimulatedPolicy.all.map(\.name).joined(separator: ", ")
                throw Failure(message: "--policy takes one of \(names), not \"\(value)\"")
            }
            options.policies = [policy]
            repeated += [option, value]
        }
    }

    private static func number(_ option: String, _ text: String, _ range: ClosedRange<Int>) throws(Failure) -> Int {
        if let number = Int(text), range.contains(number) { return number }
        let end = range.upperBound == .max ? "on" : "to \(range.upperBound)"
        throw Failure(message: "\(option) takes a whole number from \(range.lowerBound) \(end), not \"\(text)\"")
    }

    /// The command that replays a schedule.
    func replay(_ seed: UInt64) -> String {
        let words = ["settle-simulate", "--seed", "\(seed)", "--rounds", "1"] + (isFleet ? ["--fleet"] : []) + repeated
        return words.joined(separator: " ")
    }
}
