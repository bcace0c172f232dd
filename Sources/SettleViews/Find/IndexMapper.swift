package import SettleCore
package import SettleDatabase
internal import SettleQuery

/// Emits the rows of an index: one for each document that has all fields; its key is the array of their values.
///
/// Several threads map pages of documents at the same time.
struct IndexMapper: ViewMapper {
    private let columns: [SelectorPath]
    private let filter: MangoSelector?
    private let needed: NeededMembers

    private let view: Int

    init(_ index: QueryIndex) { self.init(index.columns, filter: index.partialFilter, view: 0) }

    init(_ columns: [String], filter: MangoSelector?, view: Int) {
        self.columns = columns.map { SelectorPath($0) }
        self.filter = filter
        self.view = view
        needed = NeededMembers(columns + (filter?.fields ?? []))
    }

    func start(_ documents: [DocumentRecord]) -> any ViewMapping { PageMapping(documents, emissions) }

    private static let null = Array("null".utf8)

    /// The row of a document, if it has one.
    func emissions(of record: DocumentRecord) -> [Emission] {
        guard let document = needed.json(of: record, hasConflicts: true), filter?.matches(document) ?? true else {
            return []
        }
        var key: [UInt8] = [UInt8(ascii: "[")]
        for (index, column) in columns.enumerated() {
            guard case .value(let value) = column.destination(in: document) else { return [] }
            if index > 0 { key.append(UInt8(ascii: ",")) }
            value.append(to: &key)
        }
        key.append(UInt8(ascii: "]"))
        return [Emission(view: view, key: key, value: Self.null)]
    }
}

// MARK: - QueryViewMapper

/// Emits the rows of design documents' views with the language `query`, which are indexes that are queried as views.
///
///     {"map": {"fields": {"city": "asc", "age": "asc"}, "partial_filter_selector": {}}}     →     ["Prague", 36]
///
/// A document has a row for each view if it has all of the view's fields. The direction of a field has no effect.
package struct QueryViewMapper: ViewMapper {
    private let views: [IndexMapper]

    /// Creates a mapper.
    ///
    /// - Parameter maps: The views' members `map`, in the order of their numbers in the index. A view without
    ///   fields has no rows.
    /// - Throws: ``SelectorError`` for an invalid filter.
    package init(maps: [JSONValue]) throws {
        views = try maps.enumerated().compactMap { view, map in
            guard let fields = map["fields"]?.object else { return nil }
            return IndexMapper(fields.names, filter: try Self.filter(of: map), view: view)
        }
    }

    private static func filter(of map: JSONValue) throws -> MangoSelector? {
        let filters = ["partial_filter_selector", "selector"].compactMap { map[$0] }
        // The old name is used only if the new one is empty.
        return try filters.first { $0.object?.isEmpty != true }.map { try MangoSelector(filter: $0) }
    }

    /// Whether the rows of a view depend on members of a body that begin with an underscore.
    ///
    /// - Parameter map: The view's member `map`.
    /// - Returns: Whether they do; `false` for a view that has no rows.
    package static func readsUnderscore(_ map: JSONValue) -> Bool {
        guard let fields = map["fields"]?.object, let filtered = try? Self.filter(of: map)?.fields ?? [] else {
            return false
        }
        return NeededMembers.includeUnderscore(fields.names + filtered)
    }

    package func start(_ documents: [DocumentRecord]) -> any ViewMapping {
        PageMapping(documents) { [views] record in views.flatMap { $0.emissions(of: record) } }
    }
}

// MARK: - NeededMembers

/// The top-level members of a document that some paths need.
struct NeededMembers: Sendable {
    /// The names of the members; `nil` for the whole body.
    private let names: [String]?
    private let hasID: Bool
    private let hasRevision: Bool
    private let hasAttachments: Bool
    private let hasConflicts: Bool
    /// With more names than this the whole body is read.
    private static let maximumNames = 32
    /// The members that a document has in addition to those of its body. Other names that begin with an underscore,
    /// such as `_replication_state`, belong to the body.
    private static let namesBesideBody: Set<String> = ["_id", "_rev", WireAttachment.listName, "_conflicts"]

    /// - Parameter paths: The paths; a path that names no member needs the whole document.
    init(_ paths: [String]) {
        var names: [String] = []
        var seen = Set<[UInt8]>()
        var isWhole = false
        for path in paths {
            // An invalid path needs nothing.
            guard let parts = SelectorPath(path).names else { continue }
            guard let first = parts.first else {
                isWhole = true
                continue
            }
            if seen.insert(Array(first.utf8)).inserted { names.append(first) }
        }
        // Each member of a document is compared with each name.
        isWhole = isWhole || names.count > Self.maximumNames
        func has(_ name: String) -> Bool { isWhole || names.contains(name) }
        (hasID, hasRevision) = (has("_id"), has("_rev"))
        (hasAttachments, hasConflicts) = (has(WireAttachment.listName), has("_conflicts"))
        self.names = isWhole ? nil : names.filter { !Self.namesBesideBody.contains($0) }
    }

    /// Whether some paths name members of a body that begin with an underscore.
    static func includeUnderscore(_ paths: [String]) -> Bool {
        paths.contains { path in
            guard let name = SelectorPath(path).names?.first else { return false }
            return name.hasPrefix("_") && !namesBesideBody.contains(name)
        }
    }

    /// The needed members of a document's winner; `nil` if there is no live winner.
    ///
    /// - Parameters:
    ///   - record: The document with its content.
    ///   - isWithConflicts: Whether to include `_conflicts`.
    /// - Returns: An object.
    func json(of record: DocumentRecord, hasConflicts isWithConflicts: Bool) -> JSONValue? {
        guard let winner = record.tree.winner, !winner.isDeleted, let content = record.content else { return nil }
        var members: [(String, JSONValue)] = []
        if hasID { members.append(("_id", .string(record.id.string))) }
        if hasRevision { members.append(("_rev", .string(winner.revision.description))) }
        let body = names.map { $0.isEmpty ? JSONObject() : content.body.members(named: $0) }
        for member in body ?? content.body.json.object ?? JSONObject() { members.append((member.name, member.value)) }
        if isWithConflicts, hasConflicts {
            let conflicts = record.tree.leaves.count > 1 ? record.tree.conflicts : []
            if !conflicts.isEmpty {
                members.append(("_conflicts", .array(conflicts.map { .string($0.description) })))
            }
        }
        if hasAttachments, !content.attachments.isEmpty {
            members.append((WireAttachment.listName, WireAttachment.json(content.attachments.map { $0.wire() })))
        }
        return .object(JSONObject(members))
    }
}
