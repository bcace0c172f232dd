internal import SettleDatabase
internal import SettlePlatform

/// The filter functions of a database, by name.
final class ReplicationFilterList: Sendable {
    let functions = Guarded<[String: (function: ReplicationFilterFunction, version: Int)]>([:])
}
