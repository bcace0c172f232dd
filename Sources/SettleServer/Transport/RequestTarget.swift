/// What a request is about: the path and the query of its first line.
///
///     /groceries//a%2Fb?rev=1-x;revs      rawPath    /groceries//a%2Fb
///                                         segments   groceries, a/b
///                                         query      rev: 1-x, revs: (empty)
struct RequestTarget: Sendable {
    /// The path as it came.
    let rawPath: String
    /// The parts of the path, decoded; slashes that follow each other count as one.
    let segments: [String]
    /// The parameters in order, decoded; separated by `&` or `;`.
    let query: [(name: String, value: String)]

    /// Whether a part of the path is UTF-8; what is not was repaired, so that many would become one.
    func isUTF8(part index: Int) -> Bool {
        let parts = rawPath.split(separator: "/")
        return !parts.indices.contains(index) || PercentCoding.isUTF8(parts[index])
    }

    init(_ text: String) {
        let path = text.prefix { $0 != "?" && $0 != "#" }
        rawPath = String(path)
        segments = path.split(separator: "/").map(PercentCoding.decode)
        let rest = text[path.endIndex...]
        guard rest.first == "?" else {
            query = []
            return
        }
        query = rest.dropFirst().prefix { $0 != "#" }.split { $0 == "&" || $0 == ";" }.map { item in
            let name = item.prefix { $0 != "=" }
            return (PercentCoding.decode(name), PercentCoding.decode(item[name.endIndex...].dropFirst()))
        }
    }
}
