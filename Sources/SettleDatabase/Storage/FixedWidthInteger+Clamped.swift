extension FixedWidthInteger {
    /// The sum, or the number nearest to it that there is: for numbers that somebody else says.
    package func adding(clamped other: Self) -> Self {
        let (sum, overflows) = addingReportingOverflow(other)
        guard overflows else { return sum }
        return other < 0 ? .min : .max
    }
}
