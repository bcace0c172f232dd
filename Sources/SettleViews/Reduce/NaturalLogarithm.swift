#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// The natural logarithm.
func naturalLogarithm(_ value: Double) -> Double { log(value) }
