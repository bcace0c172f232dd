package import RevisionTree

extension ReplicationDocument {
    /// The members of a document without what would let others in: user and password of the addresses, headers, and `auth`.
    package static func withoutCredentials(_ members: JSONObject) -> JSONObject {
        var shown = members
        for side in ["source", "target"] { shown[side] = members[side].map(endpointWithoutCredentials) }
        for name in ["proxy", "source_proxy", "target_proxy"] {
            shown[name] = members[name].map(addressWithoutCredentials)
        }
        return shown
    }

    /// The address of a side as it is shown to anybody; null where there is none that can be read.
    package static func shownAddress(_ json: JSON?) -> JSON {
        guard let text = json?.string ?? json?["url"]?.string else { return .null }
        guard text.contains("://") else { return json?.string == nil ? .null : .string(text) }
        return (try? HTTPURL(text)).map { .string("\($0)/") } ?? .null
    }

    private static func endpointWithoutCredentials(_ json: JSON) -> JSON {
        guard var members = json.object else { return addressWithoutCredentials(json) }
        members["headers"] = nil
        members["auth"] = nil
        members["url"] = members["url"].map(addressWithoutCredentials)
        return .object(members)
    }

    /// An address as it was written, but for what stands before the host; what is no address may hold anything.
    private static func addressWithoutCredentials(_ json: JSON) -> JSON {
        guard let text = json.string, let mark = text.firstRange(of: "://") else { return json }
        let rest = text[mark.upperBound...]
        let authority = rest.prefix { !"/?#".contains($0) }
        guard let at = authority.lastIndex(of: "@") else {
            return rest.contains("@") && (try? HTTPURL(text)) == nil ? .null : json
        }
        return .string(String(text[..<mark.upperBound]) + String(rest[rest.index(after: at)...]))
    }
}
