import SettleCore
import SettleTesting

/// Devices that change one document concurrently and exchange it, reproducible by a seed.
struct ClockedWorld {
    private var random: SeededRandom
    private var clocks: [HybridClock]
    private var wall: [Int64]
    /// Each device's document.
    private(set) var versions: [JSONObject]

    init(seed: UInt64, devices: Int = 3, steps: Int = 30) {
        random = SeededRandom(seed: SeededRandom.mix(seed))
        clocks = (0..<devices).map { HybridClock(device: "d\($0)") }
        wall = (0..<devices).map { _ in 1_000_000_000_000 }
        versions = (0..<devices).map { _ in ClockedDocument(JSONObject()).document }
        for device in 0..<devices {
            wall[device] += Int64.random(in: -86_400_000...86_400_000, using: &random)
        }
        for _ in 0..<steps { step() }
    }

    private mutating func step() {
        let device = Int.random(in: 0..<versions.count, using: &random)
        wall[device] += random.chance(5) ? Int64.random(in: -86_400_000...86_400_000, using: &random) : 10
        if random.chance(25) {
            let other = Int.random(in: 0..<versions.count, using: &random)
            let outcome = LatestAttributeMerge.merge([versions[device], versions[other]], base: nil)
            versions[device] = outcome?.merged ?? versions[device]
            return
        }
        guard let moment = clocks[device].tick(wall: wall[device]) else { return }
        var document = ClockedDocument(versions[device])
        var members = document.members
        for _ in 0...Int.random(in: 0...1, using: &random) { change(&members, 0) }
        document.stamp(members, at: moment)
        versions[device] = document.document
    }

    /// Sets, removes, and changes nested members under few names, so that changes meet.
    private mutating func change(_ members: inout JSONObject, _ depth: Int) {
        let name = ["a", "b", "c/~"].randomElement(using: &random) ?? "a"
        switch Int.random(in: 0..<6, using: &random) {
        case 0: members[name] = nil
        case 1, 2: members[name] = .number(JSONNumber(Int.random(in: 0..<4, using: &random)))
        case 3: members[name] = random.chance(50) ? [:] : [1, ["a": 2]]
        default:
            guard depth < 2 else { return }
            var inner = members[name]?.object ?? JSONObject()
            change(&inner, depth + 1)
            members[name] = .object(inner)
        }
    }
}

extension JSONObject {
    /// The members sorted by name, recursively.
    var sorted: JSONObject {
        JSONObject(
            sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }.map { member in
                (member.name, member.value.object.map { .object($0.sorted) } ?? member.value)
            })
    }
}
