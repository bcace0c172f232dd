/// Which view is meant: `design/view`, with or without `_design/` in front.
struct ViewName {
    /// The design document, without `_design/`.
    let design: String
    let view: String

    init(_ text: String) throws {
        let parts = Self.designName(text).split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
            throw CommandError.usage("\"\(text)\" names no view: give DESIGN/VIEW, such as shop/by-name", verb: "query")
        }
        (design, view) = (String(parts[0]), String(parts[1]).replacing("_view/", with: "", maxReplacements: 1))
    }

    /// The name of a design document without `_design/`.
    static func designName(_ text: String) -> String {
        text.hasPrefix("_design/") ? String(text.dropFirst("_design/".count)) : text
    }
}
