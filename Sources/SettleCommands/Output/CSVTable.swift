internal import Settle
import SettleCore
internal import SettleImport

/// Prints documents as CSV (RFC 4180), with a header row of the members' paths.
///
/// By default, the columns are the members of the first documents: nested ones by their paths, `address.city`;
/// lists are JSON. At the end of the table, a warning names members that only later documents have.
final class CSVTable {
    /// The number of documents that determine the columns.
    private static let sample = 1000

    private let output: ByteOutput
    private var columns: [[String]] = []
    private var known: Set<ExactText> = []
    private var hasHeader = false
    private var waiting: [JSONValue] = []
    /// The members that are not columns; `nil` if the columns were given.
    private var others: Set<ExactText>?

    /// - Parameters:
    ///   - output: The output for the table.
    ///   - fields: The paths of the columns; `nil` to choose them.
    /// - Throws: ``CommandError`` if the header can't be written.
    init(to output: ByteOutput, fields: [String]?) throws {
        self.output = output
        if let fields { try begin(fields) } else { others = [] }
    }

    /// Adds a document.
    func add(_ document: JSONValue) throws {
        if hasHeader { return try write(document) }
        waiting.append(document)
        if waiting.count == Self.sample { try beginWithSample() }
    }

    /// Writes the buffered documents.
    ///
    /// - Returns: The members that are missing from the table, sorted.
    func finish() throws -> [String] {
        if !hasHeader { try beginWithSample() }
        return (others ?? []).sorted().map(\.string)
    }

    private func beginWithSample() throws {
        var paths = ["_id"]
        var known: Set = [ExactText("_id")]
        for document in waiting {
            for path in Self.paths(of: document) where known.insert(ExactText(path)).inserted { paths.append(path) }
        }
        try begin(paths)
        for document in waiting { try write(document) }
        waiting = []
    }

    private func begin(_ paths: [String]) throws {
        columns = paths.map(FieldPath.names)
        hasHeader = true
        known = Set(paths.map(ExactText.init))
        try writeRow(paths)
    }

    private func write(_ document: JSONValue) throws {
        if others != nil {
            let paths = Self.paths(of: document).map(ExactText.init)
            for path in paths where !known.contains(path) { others?.insert(path) }
        }
        try writeRow(columns.map { Self.cell(FieldPath.value($0, of: document)) })
    }

    private func writeRow(_ cells: [String?]) throws {
        try output.write(cells.map { $0.map(Self.quoted) ?? "" }.joined(separator: ",") + "\n")
    }

    /// A value as the text of a cell; `nil` for a missing value.
    private static func cell(_ value: JSONValue?) -> String? {
        guard let value, value != .null else { return nil }
        return value.string ?? value.description
    }

    /// A text as a cell, quoted if necessary. An empty text is quoted, a missing value is not.
    private static func quoted(_ text: String) -> String {
        let isPlain =
            !text.isEmpty && text.utf8.allSatisfy { !special.contains($0) } && text.first != " " && text.last != " "
        return isPlain ? text : "\"\(text.replacing("\"", with: "\"\""))\""
    }

    private static let special = Array("\",\r\n".utf8)

    /// The paths of a document's members, without CouchDB's own members.
    private static func paths(of document: JSONValue) -> [String] {
        (document.object ?? JSONObject()).flatMap { member in
            member.name.hasPrefix("_") ? [] : paths(FieldPath.escaped(member.name), member.value)
        }
    }

    private static func paths(_ path: String, _ value: JSONValue) -> [String] {
        guard let members = value.object, !members.isEmpty else { return [path] }
        return members.flatMap { paths("\(path).\(FieldPath.escaped($0.name))", $0.value) }
    }
}

extension Console {
    /// Warns about members that only later documents have, and that are therefore missing from a table.
    func warn(ofMissing fields: [String]) {
        if fields.isEmpty || isQuiet { return }
        let text =
            "the table lacks what only later documents have: \(fields.joined(separator: ", ")); --fields selects them"
        complain("settle: \(text)", json: ["warning": .string(text)])
    }
}
