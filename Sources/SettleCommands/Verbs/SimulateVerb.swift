internal import Settle
internal import SettleTesting

/// `settle simulate`: shows that settling converges.
enum SimulateVerb: Verb {
    static let guide = Guide(
        "simulate", "try random schedules of edits, exchanges, crashes and settling on real databases",
        discussion: """
            Each schedule lets some replicas in memory edit, delete, exchange in part, crash, forget and settle; then all \
            exchange everything and settle until nobody writes any more. Nothing may be lost then, and all must agree. \
            What breaks a rule is shrunk, and shown with the seed that replays it. What is not given is drawn from the seed.
            """,
        options: [
            Option(
                "--seed", value: "N", "the seed of the first schedule; the others have those that follow (default 1)"),
            Option("--rounds", value: "N", "how many schedules (default 1000)"),
            Option("--replicas", value: "N", "how many replicas, from 2 to 8"),
            Option("--policy", value: "NAME", "the policy of all replicas, such as threeWayMerge"),
            Option(
                "--clocks",
                "stamp what users change with the moment, by wall clocks that are a day apart and are put forward and back"
            ),
            Option("--files", "keep the databases in files, where a crash is a real reopening"),
        ],
        examples: [
            Guide.Example("settle simulate", "tries a thousand schedules of all kinds"),
            Guide.Example(
                "settle simulate --seed 7 --replicas 5 --rounds 100000 --policy threeWayMerge",
                "tries a hundred thousand of one kind"),
        ],
        json: """
            {"ok":bool,"schedules":N,"steps":N,"revisions":N,"by_settling":N,"most_rounds":N,"left":N,"failure":{"seed":N,\
            "rule":…,"message":…,"policies":[name …],"story":[text …]} or null}
            """)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        let first = try arguments.count("--seed") ?? 1
        let rounds = try arguments.count("--rounds", atLeast: 1) ?? 1000
        guard first <= Int.max - rounds else { throw CommandError.usage("--seed is too large", verb: "simulate") }
        let simulation = Simulation(try options(arguments))
        let bar = ProgressBar(invocation.console)
        Interruption.watch()
        defer { bar.finish() }
        var total = SimulationOutcome()
        var schedules = 0
        while schedules < rounds, total.failure == nil {
            total.add(try simulation.run(UInt64(first + schedules)))
            schedules += 1
            bar.update(
                "Simulating", fraction: Double(schedules) / Double(rounds),
                "\(Quantity.grouped(schedules)) schedules  \(Quantity.rate(schedules, in: bar.elapsed))")
            try Interruption.check()
        }
        bar.finish()
        try report(total, schedules, bar.elapsed, invocation)
        return total.failure == nil ? .success : .failure
    }

    private static func options(_ arguments: Arguments) throws -> SimulationOptions {
        var options = SimulationOptions()
        options.replicas = try arguments.count("--replicas", atLeast: 2)
        guard options.replicas ?? 2 <= 8 else {
            throw CommandError.usage("--replicas takes a whole number from 2 to 8", verb: "simulate")
        }
        if arguments.flag("--files") { options.kind = .file }
        options.attributeClocks = arguments.flag("--clocks")
        guard let name = arguments.text("--policy") else { return options }
        guard let policy = SimulatedPolicy.named(name) else {
            let names = SimulatedPolicy.all.map(\.name).joined(separator: ", ")
            throw CommandError.usage("--policy takes one of \(names), not \"\(name)\"", verb: "simulate")
        }
        options.policies = [policy]
        return options
    }

    private static func report(
        _ total: SimulationOutcome, _ schedules: Int, _ time: Duration, _ invocation: Invocation
    ) throws {
        let console = invocation.console
        if console.isJSON { return try console.print(json(total, schedules).description) }
        if let failure = total.failure {
            try console.print(console.styled("Broken after \(Quantity.of(schedules, "schedule"))", .red))
            try console.print(failure.description)
            return try console.print("Replay it: \(replay(failure, invocation.arguments))")
        }
        let rounds = "quiet after \(Quantity.of(total.rounds, "round")) at the most"
        let left = total.left == 0 ? "" : ", \(Quantity.of(total.left, "conflict")) left as promised"
        try console.print(
            """
            \(console.styled("All rules hold", .green)): \(Quantity.of(schedules, "schedule")), \
            \(Quantity.of(total.steps, "step")), \(Quantity.of(total.revisions, "revision")) \
            (\(Quantity.grouped(total.settling)) by settling), \(rounds)\(left), in \(Quantity.duration(time))
            """)
    }

    /// The command that replays a failure.
    private static func replay(_ failure: SimulationFailure, _ arguments: Arguments) -> String {
        let replicas = arguments.text("--replicas").map { " --replicas \($0)" } ?? ""
        let policy = arguments.text("--policy").map { " --policy \($0)" } ?? ""
        let files = (arguments.flag("--clocks") ? " --clocks" : "") + (arguments.flag("--files") ? " --files" : "")
        return "settle simulate --seed \(failure.seed) --rounds 1\(replicas)\(policy)\(files)"
    }

    private static func json(_ total: SimulationOutcome, _ schedules: Int) -> JSON {
        let failure = total.failure.map { failure -> JSON in
            [
                "seed": .number(JSONNumber(Int(failure.seed))), "rule": .string(failure.rule.rawValue),
                "message": .string(failure.message), "policies": .array(failure.policies.map(JSON.string)),
                "story": .array(failure.story.map(JSON.string)),
            ]
        }
        return [
            "ok": .bool(total.failure == nil), "schedules": .number(JSONNumber(schedules)),
            "steps": .number(JSONNumber(total.steps)), "revisions": .number(JSONNumber(total.revisions)),
            "by_settling": .number(JSONNumber(total.settling)), "most_rounds": .number(JSONNumber(total.rounds)),
            "left": .number(JSONNumber(total.left)), "failure": failure ?? .null,
        ]
    }
}
