extension Duration {
    /// The seconds, with their fraction.
    package var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }

    /// The whole seconds, as a number that a program can count with.
    package var wholeSeconds: Int { Int(Swift.min(Swift.max(components.seconds, 0), 1 << 40)) }
}
