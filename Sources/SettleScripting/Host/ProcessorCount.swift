internal import SettlePlatform

/// The number of available processors.
func processorCount() -> Int { max(Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))), 1) }
