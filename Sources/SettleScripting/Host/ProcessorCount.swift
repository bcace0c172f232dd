internal import SettlePlatform

/// How many processors there are to run on.
func processorCount() -> Int { max(Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))), 1) }
