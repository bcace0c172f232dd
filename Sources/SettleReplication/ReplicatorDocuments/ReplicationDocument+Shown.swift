package import SettleCore
internal import SettleDatabase

extension ReplicationDocument {
    /// What the members of a replication document say of its state: completed, failed or paused; pending otherwise.
    package static func state(of members: JSONObject) -> ReplicationState {
        let state = members["_replication_state"]?.string.flatMap(ReplicationState.init(rawValue:))
        return state.flatMap { [.completed, .failed, .paused].contains($0) ? $0 : nil } ?? .pending
    }

    /// The members of a replication document without credentials: each side is only its address, without user, password
    /// and query.
    package static func withoutCredentials(_ members: JSONObject) -> JSONObject {
        var shown = members
        for side in ["source", "target"] { shown[side] = members[side].map(side(shown:)) }
        for name in ["proxy", "source_proxy", "target_proxy"] { shown[name] = members[name].map(address(shown:)) }
        return shown
    }

    /// A side's address without credentials, as ``ReplicationEndpoint/shown``; null if there is no readable address.
    package static func shownAddress(_ json: JSONValue?) -> JSONValue {
        guard let text = json?.string ?? json?["url"]?.string else { return .null }
        guard text.contains("://") else { return json?.string == nil ? .null : name(shown: text) }
        return (try? PeerAddress(text)).map { .string($0.shown(collection: json?["collection"]?.string)) } ?? .null
    }

    private static func side(shown json: JSONValue) -> JSONValue {
        guard let members = json.object else { return address(shown: json) }
        var shown = JSONObject()
        shown["url"] = members["url"].map(address(shown:))
        return .object(shown)
    }

    /// An address as it was written, without what precedes the host or follows the path.
    private static func address(shown json: JSONValue) -> JSONValue {
        guard let text = json.string else { return .null }
        guard let mark = text.firstRange(of: "://") else { return name(shown: text) }
        let all = text[mark.upperBound...]
        let rest = all.prefix { !"?#".contains($0) }
        if let at = rest.prefix(while: { $0 != "/" }).lastIndex(of: "@") {
            return .string(String(text[..<mark.upperBound]) + String(rest[rest.index(after: at)...]))
        }
        return all.contains("@") && (try? PeerAddress(text)) == nil ? .null : .string(String(text[..<rest.endIndex]))
    }

    /// Text that is not an address may contain a secret, unless it is a valid database name.
    private static func name(shown text: String) -> JSONValue {
        DocumentStore.isName(text) || text.isEmpty ? .string(text) : .null
    }
}

extension PeerAddress {
    /// The address with CouchDB's trailing slash, or with a collection, as ``MobilePeer/name`` has it.
    func shown(collection: String?) -> String { "\(self)" + (collection.map { "#\($0)" } ?? "/") }
}
