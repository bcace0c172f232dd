import SettleDatabase

extension MemberDifference {
    /// A short description of differences: `changed /count, /tags and 3 more; removed /note`.
    static func summary(_ differences: [MemberDifference], limit: Int = 4) -> String {
        if differences.isEmpty { return "no member" }
        var left = limit
        return Kind.allCases.compactMap { kind in
            let paths = differences.filter { $0.kind == kind }.map(\.path)
            let shown = paths.prefix(left)
            left -= shown.count
            let hidden = paths.count - shown.count
            if shown.isEmpty { return hidden > 0 ? "\(kind.rawValue) \(hidden) more" : nil }
            let more = hidden > 0 ? " and \(hidden) more" : ""
            return "\(kind.rawValue) \(shown.joined(separator: ", "))\(more)"
        }.joined(separator: "; ")
    }
}
