internal import SettlePlatform

/// The policies by which a database is being settled automatically.
final class SettlingPolicies: Sendable {
    private let names = Guarded<[String]>([])

    /// Notes that one begins; returns another one that is at work.
    func note(_ policy: ConflictPolicy) -> String? {
        names.withLock { names in
            defer { names.append(policy.description) }
            return names.first { $0 != policy.description }
        }
    }

    /// Notes that one has ended.
    func forget(_ policy: ConflictPolicy) {
        names.withLock { names in
            if let index = names.firstIndex(of: policy.description) { names.remove(at: index) }
        }
    }
}
