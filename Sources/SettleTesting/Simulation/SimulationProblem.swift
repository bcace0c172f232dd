/// A broken rule, thrown where it is detected.
struct SimulationProblem: Error {
    let rule: SimulationRule
    let message: String

    init(_ rule: SimulationRule, _ message: String) {
        self.rule = rule
        self.message = message
    }
}
