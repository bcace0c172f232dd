import SettleCore

extension SchemaKeywords {
    /// Rejects keywords that assert something unsupported, or whose meaning differs between drafts.
    static func refuse(_ name: String, in members: JSONObject, at path: String) throws(SchemaError) {
        let reason: String
        switch name {
        case "$schema":
            let draft = members[name]?.string
            if draft == "https://json-schema.org/draft/2020-12/schema" { return }
            if draft == "https://json-schema.org/draft/2020-12/schema#" { return }
            reason = "only draft 2020-12 is supported"
        case "$id":
            if path.isEmpty { return }
            reason = "only the root may have one; use $anchor"
        case "$dynamicRef", "$recursiveRef": reason = "use $ref"
        case "$recursiveAnchor": reason = "use $anchor"
        case "$vocabulary": reason = "there are no vocabularies of one's own"
        case "dependencies": reason = "use dependentRequired or dependentSchemas"
        case "additionalItems": reason = "use prefixItems and items"
        case "items":
            guard case .array? = members[name] else { return }
            reason = "use prefixItems for a list of schemas"
        case "divisibleBy": reason = "use multipleOf"
        case "disallow": reason = "use not"
        case "extends": reason = "use allOf"
        default: return
        }
        throw SchemaError(
            .unsupported, "\(name) is not supported: \(reason)", at: "\(path)/\(SchemaPointer.escape(name))")
    }
}
