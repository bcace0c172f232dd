internal import Settle

/// The plan of `_explain` as text.
struct FindPlanText {
    private let plan: JSONValue
    private let index: NamedIndex?

    init(_ plan: JSONValue) {
        self.plan = plan
        index = plan["index"].flatMap { $0.isNull ? nil : NamedIndex($0) }
    }

    /// Whether a user's index is used.
    var hasIndex: Bool { index?.designDocument != nil }

    /// The labels and texts of the plan.
    var rows: [(String, String)] {
        guard let index else { return [("Index", "none serves the order, so the query fails")] + others }
        var rows = [
            ("Index", index.designDocument.map { "\(index.name) of \($0)" } ?? "none: all documents are read")
        ]
        let search = plan["query"]?.string
        if hasIndex { rows.append((search == nil ? "Ordered by" : "Of", index.order)) }
        if let filter = index.filter { rows.append(("Only with", filter.description)) }
        rows.append(search.map { ("Searches", $0) } ?? ("Reads", range))
        let columns = search == nil ? index.fields.map(\.path) : []
        let conditions = FindConditions(plan["selector"] ?? [:])
        let (narrowing, checked) = conditions.split(by: columns, isSearched: search != nil)
        if !narrowing.isEmpty { rows.append(("Narrowed by", narrowing.joined(separator: " and "))) }
        let isCovering = plan["covering"] == true || plan["covered"] == true
        let each = isCovering ? "Checked on each row" : "Checked on each document"
        rows.append((each, checked.isEmpty ? "no further condition" : checked.joined(separator: " and ")))
        if isCovering { rows.append(("Documents", "none is read: the index has all that is asked for")) }
        return rows + others
    }

    /// The range of the index that is read.
    private var range: String {
        let arguments = plan["mrargs"]
        let what = hasIndex ? "rows" : "ids"
        let isReversed = arguments?["direction"] == "rev"
        let (first, last) = (Self.values(arguments?["start_key"]), Self.values(arguments?["end_key"]))
        let ends = [Self.edge(first, "from"), Self.edge(last, "to")].compactMap(\.self)
        let text = ends.isEmpty ? "all \(what)" : "\(what) \(ends.joined(separator: " "))"
        return text + (isReversed ? ", descending" : "")
    }

    /// The values of a bound, without the marker of the end.
    private static func values(_ bound: JSONValue?) -> [JSONValue] {
        let list = bound?.array ?? bound.map { [$0] } ?? []
        return list.filter { $0 != "<MAX>" && !$0.isNull && $0 != "" }
    }

    private static func edge(_ values: [JSONValue], _ word: String) -> String? {
        values.isEmpty ? nil : "\(word) \(values.map(\.description).joined(separator: ", "))"
    }

    /// The reason why other indexes are not used.
    private var others: [(String, String)] {
        (plan["index_candidates"]?.array ?? []).filter { $0["index"]?["ddoc"]?.string != nil }.map { candidate in
            let index = NamedIndex(candidate["index"] ?? .null)
            let names = (candidate["analysis"]?["reasons"]?.array ?? []).compactMap { $0["name"]?.string }
            let reasons = names.map { Self.reasons[$0] ?? $0.replacing("_", with: " ") }
            return ("Not by", "\(index.name) of \(index.designDocument ?? ""): \(reasons.joined(separator: ", "))")
        }
    }

    private static let reasons = [
        "field_mismatch": "it has fields without a condition",
        "sort_order_mismatch": "it has another order",
        "is_partial": "it is partial; --use-index selects it",
        "scope_mismatch": "it is partitioned",
        "excluded_by_user": "--use-index selects another one",
        "unfavored_type": "it is of another kind",
        "less_overlap": "it begins with fewer fields that have conditions",
        "too_many_fields": "it has more fields",
        "alphabetically_comes_after": "its name comes later",
        "needs_text_search": "it is not a text index",
    ]
}
