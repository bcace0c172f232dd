/// A rule that was broken, on its way from where that was seen.
struct SimulationProblem: Error {
    let rule: SimulationRule
    let message: String

    init(_ rule: SimulationRule, _ message: String) {
        self.rule = rule
        self.message = message
    }
}
