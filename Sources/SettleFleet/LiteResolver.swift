internal import SettleCore

/// The way in which an app settles a conflict.
enum LiteResolver: String, CaseIterable {
    /// Couchbase Lite's own rule: a deletion, the higher generation or the later version wins.
    case standard
    case local
    case remote
    /// The members of both; a deletion loses.
    case uniting

    enum Choice {
        case local
        case remote
        case merged(JSONObject, isDeleted: Bool)
    }

    /// Chooses between a local and a remote revision. `isLocalLater` says whether the local one is later by
    /// Couchbase Lite's rule.
    func choose(_ local: LiteRevision, _ remote: LiteRevision, isLocalLater: Bool) -> Choice {
        switch self {
        case .local: return .local
        case .remote: return .remote
        case .standard:
            if remote.isDeleted { return .remote }
            return local.isDeleted || isLocalLater ? .local : .remote
        case .uniting:
            if local.isDeleted { return .remote }
            if remote.isDeleted { return .local }
            return .merged(Self.unite(remote.body, local.body), isDeleted: false)
        }
    }

    /// The members of both; the first one's value is used if both have a member.
    static func unite(_ first: JSONObject, _ second: JSONObject) -> JSONObject {
        var all = first
        for member in second {
            if member.name == "_attachments", let own = all[member.name]?.object, let other = member.value.object {
                all[member.name] = .object(unite(own, other))
            } else if all[member.name] == nil {
                all[member.name] = member.value
            }
        }
        return all
    }
}
