package import RevisionTree
internal import SettleDatabase

extension ReplicationDocument {
    /// The members of a document without what would let others in: of a side nothing but its address, and of an address
    /// neither user and password nor what it asks.
    package static func withoutCredentials(_ members: JSONObject) -> JSONObject {
        var shown = members
        for side in ["source", "target"] { shown[side] = members[side].map(side(shown:)) }
        for name in ["proxy", "source_proxy", "target_proxy"] { shown[name] = members[name].map(address(shown:)) }
        return shown
    }

    /// The address of a side as it is shown to anybody; null where there is none that can be read.
    package static func shownAddress(_ json: JSON?) -> JSON {
        guard let text = json?.string ?? json?["url"]?.string else { return .null }
        guard text.contains("://") else { return json?.string == nil ? .null : name(shown: text) }
        return (try? HTTPURL(text)).map { .string("\($0)/") } ?? .null
    }

    private static func side(shown json: JSON) -> JSON {
        guard let members = json.object else { return address(shown: json) }
        var shown = JSONObject()
        shown["url"] = members["url"].map(address(shown:))
        return .object(shown)
    }

    /// An address as it was written, but for what stands before the host and behind the path.
    private static func address(shown json: JSON) -> JSON {
        guard let text = json.string else { return .null }
        guard let mark = text.firstRange(of: "://") else { return name(shown: text) }
        let all = text[mark.upperBound...]
        let rest = all.prefix { !"?#".contains($0) }
        if let at = rest.prefix(while: { $0 != "/" }).lastIndex(of: "@") {
            return .string(String(text[..<mark.upperBound]) + String(rest[rest.index(after: at)...]))
        }
        return all.contains("@") && (try? HTTPURL(text)) == nil ? .null : .string(String(text[..<rest.endIndex]))
    }

    /// What is no address may hold anything, unless it can be a database's name.
    private static func name(shown text: String) -> JSON { Store.isName(text) || text.isEmpty ? .string(text) : .null }
}
