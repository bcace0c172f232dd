internal import SettlePlatform

/// The policies that currently settle a database automatically.
final class SettlingPolicies: Sendable {
    private let names = Guarded<[String]>([])

    /// Records that a policy starts; returns another one that is running.
    func note(_ policy: ConflictPolicy) -> String? {
        names.withLock { names in
            defer { names.append(policy.identity) }
            return names.first { $0 != policy.identity }
        }
    }

    /// Records that a policy has ended.
    func forget(_ policy: ConflictPolicy) {
        names.withLock { names in
            if let index = names.firstIndex(of: policy.identity) { names.remove(at: index) }
        }
    }
}
