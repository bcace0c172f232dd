/// What connections that wait cost the server: a signal of life now and then, and something in any case.
struct WaitingCost {
    /// Seconds of the processor in a second.
    let base: Double
    /// Seconds of the processor for a signal of life.
    let each: Double

    /// Fits a line through measured times: least squares.
    ///
    /// - Parameter slices: Times of about the same length, with the signals of life and seconds of the processor in each.
    init(_ slices: [(time: Double, signals: Int, processor: Double)]) {
        let count = Double(max(1, slices.count))
        let time = slices.reduce(0) { $0 + $1.time }
        let meanSignals = slices.reduce(0) { $0 + Double($1.signals) } / count
        let meanProcessor = slices.reduce(0) { $0 + $1.processor } / count
        let together = slices.reduce(0) { $0 + (Double($1.signals) - meanSignals) * ($1.processor - meanProcessor) }
        let spread = slices.reduce(0) { $0 + (Double($1.signals) - meanSignals) * (Double($1.signals) - meanSignals) }
        each = spread > 0 ? max(0, together / spread) : 0
        base = max(0, meanProcessor - each * meanSignals) * count / max(1e-9, time)
    }

    /// Seconds of the processor while some time passes with so many signals of life.
    func processor(time: Double, signals: Int) -> Double { base * time + each * Double(signals) }
}
