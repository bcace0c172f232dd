internal import Settle

extension SimulatedPolicy {
    /// The built-in policies, and resolvers as apps write them, good and bad.
    public static let all: [SimulatedPolicy] = [
        SimulatedPolicy("keepAll", settles: .never) { _ in .keepAll },
        SimulatedPolicy("mostRevisions") { _ in .mostRevisions },
        SimulatedPolicy("deletesWin") { _ in .deletesWin },
        SimulatedPolicy("localWins", isPure: false) { _ in .localWins },
        SimulatedPolicy("remoteWins", isPure: false) { _ in .remoteWins },
        SimulatedPolicy("threeWayMerge", settles: .whereBasesAreKept) { _ in .threeWayMerge() },
        SimulatedPolicy("threeWayMergeByRules", settles: .whereBasesAreKept) { _ in
            .threeWayMerge(MergeRules(fields: ["/count": .sum, "/tags": .union]))
        },
        SimulatedPolicy("threeWayMergeDeletesWin", settles: .whereBasesAreKept) { _ in
            .threeWayMerge(deletionsWin: true)
        },
        SimulatedPolicy("latestAttributeWins", settles: .whereBasesAreKept) { _ in .latestFieldWins },
        SimulatedPolicy("latestAttributeWinsDeletionsToo", settles: .whereBasesAreKept) { _ in
            .latestFieldWins(deletions: .latestWins)
        },
        SimulatedPolicy("longest") { _ in .custom("longest", version: "1", deletions: true, longest) },
        SimulatedPolicy("versions", isPure: false) { device in
            .custom("longest", version: "\(device.replica % 2 + 1)") { conflict in
                device.replica % 2 == 0 ? longest(conflict) : .document(conflict.liveLeaves.last ?? conflict.winner)
            }
        },
        SimulatedPolicy("allMembers") { _ in .custom("allMembers", allMembers) },
        SimulatedPolicy("couchbaseLite", isPure: false, mayDelete: true) { _ in
            .couchbaseLite { _, local, remote in
                guard let local, let remote else { return nil }
                return (local["count"]?.int ?? 0) % 5 == 4 ? nil : remote
            }
        },
        SimulatedPolicy("cloudant") { _ in .cloudant { _, conflicts in conflicts.last } },
        SimulatedPolicy("random", isPure: false) { device in
            .custom("random", deletions: true) { conflict in
                let leaf = conflict.leaves[Int(device.random() % UInt64(conflict.leaves.count))]
                return .document(leaf)
            }
        },
        SimulatedPolicy("clock", isPure: false) { device in
            .custom("clock") { conflict in
                var merged = conflict.winner
                merged["settled"] = .number(JSONNumber(device.now()))
                return .document(merged)
            }
        },
    ]

    /// The policy with a name; `nil` if there is none.
    public static func named(_ name: String) -> SimulatedPolicy? { all.first { $0.name == name } }

    /// The leaf with the longest body, or the higher one of equals. A deletion counts as the shortest.
    @Sendable private static func longest(_ conflict: Conflict) -> Resolution {
        let longest = conflict.liveLeaves.reversed().max { $0.bodyOrEmpty.utf8.count < $1.bodyOrEmpty.utf8.count }
        return .document(longest ?? conflict.winner)
    }

    /// The members and attachments of all live leaves; higher leaves take precedence over lower ones.
    @Sendable private static func allMembers(_ conflict: Conflict) -> Resolution {
        var merged = conflict.winner
        var members = conflict.winner.json.object ?? JSONObject()
        for leaf in conflict.liveLeaves.dropFirst() {
            for member in leaf.json.object ?? JSONObject() where members[member.name] == nil {
                members[member.name] = member.value
            }
            for attachment in leaf.attachments where merged.attachment(attachment.name) == nil {
                merged.attachments.append(attachment)
            }
        }
        merged.json = .object(members)
        return .document(merged)
    }
}
