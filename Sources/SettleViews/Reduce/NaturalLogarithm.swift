internal import SettlePlatform

/// The natural logarithm.
func naturalLogarithm(_ value: Double) -> Double { log(value) }
