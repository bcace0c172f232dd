/// Some elements of the table that stand in a row.
struct CollationRun {
    /// Where the first one stands.
    let place: UInt32
    /// How many there are.
    let count: Int
}

/// The contractions: code points that have elements of their own where they stand together.
///
///     0CC6 0CC2 0CD5     the state is 0CC6 first, then a number for "0CC6 0CC2", then one for all three
struct CollationContractions {
    /// What follows from a state and a code point.
    struct Step {
        /// The state, for the steps that follow.
        let state: UInt32
        /// The elements, where the code points so far are a contraction.
        var run: CollationRun?
        /// Whether longer contractions begin with these code points.
        var goesOn = false
    }

    private var steps: [UInt64: Step] = [:]
    private var fronts: [UInt64: CollationRun] = [:]
    /// The combining classes of a code point's first and last mark, in two bytes.
    var classes: [UInt32: UInt16] = [:]

    /// The step that a code point makes from a state; the first state is the contraction's first code point.
    func step(from state: UInt32, by point: UInt32) -> Step? { steps[Self.key(state, point)] }

    /// The elements of a code point that follows a certain one, like the dot in `l·`.
    func run(of point: UInt32, after front: UInt32) -> CollationRun? { fronts[Self.key(front, point)] }

    /// The combining class of a code point's first mark; zero if it does not begin with one.
    func firstClass(of point: UInt32) -> UInt8 { point < 0x300 ? 0 : UInt8(classes[point, default: 0] >> 8) }

    /// The combining class of a code point's last mark.
    func lastClass(of point: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: classes[point, default: 0]) }

    /// Adds a contraction of two or three code points, or of zero, a code point and the one in front of it.
    mutating func add(_ text: [UInt32], _ run: CollationRun) {
        guard text[0] > 0 else {
            fronts[Self.key(text[2], text[1])] = run
            return
        }
        var state = text[0]
        let rest = text.dropFirst().prefix { $0 > 0 }
        for (index, point) in zip(rest.indices, rest) {
            let key = Self.key(state, point)
            let isLast = index == rest.endIndex - 1
            var step = steps[key] ?? Step(state: 0x110000 + UInt32(steps.count))
            if isLast { step.run = run } else { step.goesOn = true }
            steps[key] = step
            state = step.state
        }
    }

    private static func key(_ state: UInt32, _ point: UInt32) -> UInt64 { UInt64(state) << 21 | UInt64(point) }
}
