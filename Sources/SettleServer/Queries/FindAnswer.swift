internal import SettleCore
internal import SettleDatabase
internal import SettleViews

/// The answer to a query, a page of bytes at a time.
///
///     {"docs":[…],"bookmark": "…","execution_stats": {…},"warning": "…"}
struct FindAnswer {
    private var cursor: FindCursor
    private let hasStatistics: Bool
    private let isQuorum: Bool
    private let printer: DocumentPrinter
    private let start: ContinuousClock.Instant
    private var hasBegun = false
    private var hasDocuments = false
    /// Whether the answer is complete.
    private(set) var isDone = false

    /// A page ends after this many bytes, or after this many examined documents.
    private static let pageLength = 64 * 1024
    static let pageCount = 1000

    init(_ cursor: FindCursor, _ request: FindRequest, _ source: any QuerySource, _ context: any ReadContext) {
        self.cursor = cursor
        hasStatistics = request.hasStatistics
        isQuorum = request.options.isQuorum
        var options = DocumentOptions()
        options.hasConflicts = request.options.hasConflicts
        options.keepsNumbers = context.request.keepsNumbers
        printer = DocumentPrinter(source: source, options: options, metrics: context.metrics)
        start = .now
    }

    /// The next piece.
    ///
    /// - Parameter count: The maximum number of documents to examine.
    /// - Returns: The piece. It may be empty if many documents were examined and none matched.
    /// - Throws: Errors of reading the documents.
    mutating func next(lookingAt count: Int = pageCount) throws -> [UInt8] {
        guard !isDone else { return [] }
        var bytes: [UInt8] = []
        if !hasBegun { bytes += Array("{\"docs\":[".utf8) }
        hasBegun = true
        let printer = printer
        var isFirst = !hasDocuments
        try cursor.next(lookingAt: count) { found in
            bytes += isFirst ? Self.lineEnd : Self.separator
            isFirst = false
            switch found {
            case .whole(let record):
                guard let winner = record.tree.winner, let content = record.content else { break }
                bytes += try printer.print(winner.revision, content, of: record, hasMeta: true).text.bytes
            case .part(let json, _) where printer.options.keepsNumbers: json.append(to: &bytes)
            case .part(let json, _): WireJSON.append(json, to: &bytes)
            }
            return bytes.count < Self.pageLength
        }
        hasDocuments = !isFirst
        if cursor.isDone {
            bytes += Array(("\r\n]" + end + "}").utf8)
            isDone = true
        }
        return bytes
    }

    private static let lineEnd = Array("\r\n".utf8)
    private static let separator = Array(",\r\n".utf8)

    /// The members after the documents; empty if the conditions contradict each other, as in CouchDB.
    private var end: String {
        guard cursor.plan.bounds != nil else { return "" }
        let bookmark = cursor.bookmark?.text ?? FindBookmark.none
        var members: [(String, String)] = [("bookmark", "\(JSONValue.string(bookmark))")]
        if hasStatistics { members.append(("execution_stats", statistics)) }
        var warnings = cursor.warnings
        if cursor.statistics.suggestsIndex { warnings.append(QueryStatistics.suggestion) }
        if !warnings.isEmpty { members.append(("warning", "\(JSONValue.string(warnings.joined(separator: "\n")))")) }
        return members.map { ",\r\n\"\($0.0)\": \($0.1)" }.joined()
    }

    private var statistics: String {
        let seen = cursor.statistics
        let time = ContinuousClock.now - start
        let microseconds = time.components.seconds * 1_000_000 + time.components.attoseconds / 1_000_000_000_000
        let json: JSONValue = [
            "total_keys_examined": .number(JSONNumber(seen.keysExamined)),
            "total_docs_examined": .number(JSONNumber(isQuorum ? 0 : seen.documentsExamined)),
            "total_quorum_docs_examined": .number(JSONNumber(isQuorum ? seen.documentsExamined : 0)),
            "results_returned": .number(JSONNumber(seen.results)),
            "execution_time_ms": JSONNumber(Double(microseconds) / 1000).map(JSONValue.number) ?? .null,
        ]
        return "\(json)"
    }
}
