import Settle
import Testing

/// Shorthands for matching.
enum SelectorSamples {
    /// Whether a document, given as JSON text, matches a selector in JSON text.
    static func matches(_ selector: String, _ document: String) throws -> Bool {
        try Selector(JSON(parsing: selector)).matches(JSON(parsing: document))
    }

    /// The error for a selector in JSON text.
    static func error(_ selector: String) throws -> SelectorError? {
        let json = try JSON(parsing: selector)
        do throws(SelectorError) {
            _ = try Selector(json)
            return nil
        } catch { return error }
    }
}
