extension Duration {
    /// Whole milliseconds, at least one and at most twelve days.
    var milliseconds: Int {
        let (seconds, attoseconds) = components
        guard seconds < 1 << 30 else { return 1 << 30 }
        return max(1, Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000))
    }
}
