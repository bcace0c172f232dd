import SettleCore
import SettleQuery
import Testing

/// Shorthands for matching.
enum SelectorSamples {
    /// Whether a document, given as JSON text, matches a selector in JSON text.
    static func matches(_ selector: String, _ document: String) throws -> Bool {
        try MangoSelector(JSONValue(parsing: selector)).matches(JSONValue(parsing: document))
    }

    /// The error for a selector in JSON text.
    static func error(_ selector: String) throws -> SelectorError? {
        let json = try JSONValue(parsing: selector)
        do throws(SelectorError) {
            _ = try MangoSelector(json)
            return nil
        } catch { return error }
    }
}
