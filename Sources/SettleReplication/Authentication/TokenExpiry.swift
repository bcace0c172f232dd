internal import SettleCore
internal import SettleDatabase

/// When a token expires.
enum TokenExpiry {
    /// The `exp` of a JWT in seconds since 1970; `nil` for text that is not a JWT, and for a JWT without
    /// `exp`. Nothing is verified: the server that accepts the token does that.
    static func end(of token: String) -> Double? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        var text = parts[1].replacing("-", with: "+").replacing("_", with: "/")
        while !text.utf8.count.isMultiple(of: 4) { text += "=" }
        guard let bytes = Base64.decode(text.utf8), let claims = try? JSONValue(utf8: bytes) else { return nil }
        return claims["exp"]?.double
    }
}
