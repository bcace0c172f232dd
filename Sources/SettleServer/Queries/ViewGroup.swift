internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform
internal import SettleQuery
internal import SettleScripting
internal import SettleViews

/// The views of a design document, and the files with their rows.
///
/// Views with the same map function and order share their rows, and all views of a design document are in one file.
/// The file's name depends on everything that its rows depend on. So two design documents with the same views share
/// a file, and a changed design document gets a new one. Indexes of queries use the files of `_find`.
struct ViewGroup: Sendable {
    /// A file with rows of views, and the functions that make the rows.
    struct Part: Sendable {
        /// The name of the file among the indexes of a database.
        let fileName: String
        let index: ViewIndex
        let mapper: any ViewMapper

        /// Updates the file to the current state of the database.
        ///
        /// - Throws: Errors of ``ViewIndex/update(from:by:report:)``.
        func update(from database: Database, report: (_ done: Int, _ total: Int) throws -> Void) throws {
            try index.update(from: database, by: mapper, report: report)
        }
    }

    /// The place of a view's rows, and its reduce function.
    struct View: Sendable {
        /// The file.
        let part: Part
        /// The number of the view's rows in the file.
        let number: Int
        /// The order of its keys.
        let order: KeyOrder
        /// The number of the view's reduce function among those of its rows; `nil` if it has none.
        let reducer: Int?
    }

    let design: DesignDocument
    /// The name of the design document's own file.
    let signature: String
    private let parts: [Part]
    private let views: [ExactText: View]

    /// The views of a design document.
    ///
    /// - Throws: ``DatabaseError``; ``SelectorError`` for an invalid filter of an index.
    init(_ design: DesignDocument, of database: Database, by scripts: Scripts) throws {
        self.design = design
        let isQuery = design.language == "query"
        let options = design.members["options"]?.object ?? JSONObject()
        let definitions = design.members["views"]?.object ?? JSONObject()
        signature = Self.signature(definitions, options)
        guard isQuery || design.language == "javascript" else {
            (parts, views) = ([], [:])
            return
        }
        var (parts, views): ([Part], [ExactText: View]) = ([], [:])
        var own = ViewRows()
        for view in definitions where view.name != "lib" {
            if isQuery, options["include_design"] != true, let index = QueryIndex(counting: view, of: design.id) {
                let part = try parts.first { $0.fileName == index.fileName } ?? Part(index, of: database)
                if !parts.contains(where: { $0.fileName == part.fileName }) { parts.append(part) }
                let reducer = view.value["reduce"]?.string.map { _ in 0 }
                views[ExactText(view.name)] = View(part: part, number: 0, order: .collation, reducer: reducer)
                continue
            }
            guard let map = view.value["map"], isQuery ? map.object != nil : map.string != nil else { continue }
            own.add(view.name, map: map, reduce: view.value["reduce"]?.string, order: Self.order(of: view.value))
        }
        if !own.isEmpty || parts.isEmpty {
            let part = try Self.part(own, signature, design, of: database, by: scripts)
            parts.append(part)
            for (name, place) in own.places {
                views[name] = View(
                    part: part, number: place.number, order: own.orders[place.number], reducer: place.reducer)
            }
        }
        (self.parts, self.views) = (parts, views)
    }

    /// The design document's own file.
    private static func part(
        _ rows: ViewRows, _ signature: String, _ design: DesignDocument, of database: Database, by scripts: Scripts
    ) throws -> Part {
        let owner = design.source.owner
        let options = design.members["options"]
        let mapper: any ViewMapper
        if design.language == "query" {
            mapper = try QueryViewMapper(maps: rows.maps)
        } else {
            let source = ScriptSource(
                owner: owner, key: signature, maps: rows.maps.compactMap(\.string),
                library: design.members["views"]?["lib"]?.utf8)
            mapper = ScriptMapper(pool: scripts.pool, source: source, hasSequence: options?["local_seq"] == true)
        }
        let reducing = ScriptSource(owner: owner, key: signature + " reduce", document: Array("{}".utf8))
        let definitions = rows.definitions { ScriptReducer(pool: scripts.pool, source: reducing, function: $0) }
        let index = try IndexFolder.of(database).index(signature) { place in
            ViewIndex(at: place, definitions: definitions, includesDesign: options?["include_design"] == true)
        }
        return Part(fileName: signature, index: index, mapper: mapper)
    }

    /// A view by name.
    ///
    /// - Throws: ``HTTPError`` with status 404; 500 for a design document in an unsupported language.
    func view(_ name: String) throws -> View {
        if parts.isEmpty { throw HTTPError(500, "unknown_query_language", "\(design.language)") }
        guard let view = views[ExactText(name)] else { throw HTTPError.notFound("missing_named_view") }
        return view
    }

    /// The properties of the files for `_info`. The sequence is the lowest of all files.
    func info(of database: Database, isRunning: Bool) throws -> JSONValue {
        let folder = IndexFolder.of(database)
        let size = JSONValue.number(JSONNumber(parts.reduce(0) { $0 + folder.size($1.fileName) }))
        let sequence = try parts.map { try $0.index.sequence() }.min() ?? 0
        let pending = JSONValue.number(JSONNumber(try database.count(changedIn: SequenceRange(after: sequence))))
        return [
            "signature": .string(signature), "language": .string(design.language),
            "sizes": ["file": size, "external": size, "active": size],
            "update_seq": .number(JSONNumber(sequence.number)),
            "purge_seq": .number(JSONNumber(try PurgeLog.count(in: database))), "updater_running": .bool(isRunning),
            "compact_running": false, "waiting_clients": 0, "waiting_commit": false,
            "updates_pending": ["minimum": pending, "preferred": pending, "total": pending],
            "collator_versions": [.string(Collation.shortVersion)],
        ]
    }

    /// The order that a view's member `options` selects.
    private static func order(of view: JSONValue) -> KeyOrder {
        view["options"]?["collation"] == "raw" ? .raw : .collation
    }

    /// The name of the file for some views.
    static func signature(_ views: JSONObject, _ options: JSONObject) -> String {
        var parts: [JSONValue] = [.object(views), .object(options), .string(Collation.version)]
        // Files of earlier versions have these views in the other order.
        if views.contains(where: { order(of: $0.value) == .raw }) { parts.append("raw") }
        // Files of earlier versions lack these members.
        if views.contains(where: { $0.value["map"].map(QueryViewMapper.readsUnderscore) ?? false }) {
            parts.append("underscore")
        }
        let text = JSONValue.array(parts).utf8
        return Hexadecimal.encode(Array(HashFunction.sha256.hash(text).prefix(16)))
    }
}

extension ViewGroup.Part {
    /// The rows of an index of queries, which `_find` also uses.
    init(_ index: QueryIndex, of database: Database) throws {
        let (rows, mapper) = try index.files(in: database)
        self.init(fileName: index.fileName, index: rows, mapper: mapper)
    }
}

// MARK: - ViewGroups

/// Caches the views of a database's recently used design documents, until a design document changes.
final class ViewGroups: Sendable {
    private struct State {
        var age: UInt64?
        var scripts: Scripts?
        var groups: [DocumentID: ViewGroup] = [:]
    }

    private let state = Guarded(State())
    /// The maximum number of cached design documents.
    private static let most = 16

    private init() {}

    /// The cached views of a design document, for any script workers; `nil` if they are not cached.
    static func known(_ design: String, of source: any DocumentSource) -> ViewGroup? {
        let (id, age) = (DocumentID(unchecked: design), source.designEpoch)
        return source.known(ViewGroups.self)?.state.withLock { $0.age == age ? $0.groups[id] : nil }
    }

    /// The views of a design document.
    ///
    /// - Throws: ``HTTPError`` if the design document does not exist, or has no views that can be run.
    static func group(_ design: String, of database: Database, by scripts: Scripts) throws -> ViewGroup {
        let own = database.companion(ViewGroups.self) { ViewGroups() }
        // Read before the design document: a change in between makes the cached views old.
        let (id, age) = (DocumentID(unchecked: design), database.designEpoch)
        let known = own.state.withLock { $0.age == age && $0.scripts === scripts ? $0.groups[id] : nil }
        if let known { return known }
        let made = try ViewGroup(DesignDocuments.document(design, of: database), of: database, by: scripts)
        own.state.withLock { state in
            if state.age != age || state.scripts !== scripts || state.groups.count >= most {
                state = State(age: age, scripts: scripts)
            }
            state.groups[id] = made
        }
        return made
    }
}

// MARK: - ViewRows

/// The rows of some views. Views with the same map function and order share rows.
struct ViewRows {
    /// The map functions with their order.
    private(set) var maps: [JSONValue] = []
    private(set) var orders: [KeyOrder] = []
    /// The reduce functions for each map function's rows.
    private var reduces: [[String]] = []
    /// For each view the number of its rows, and of its reduce function among theirs.
    private(set) var places: [ExactText: (number: Int, reducer: Int?)] = [:]

    /// Whether there are no views.
    var isEmpty: Bool { places.isEmpty }

    /// Adds a view.
    mutating func add(_ name: String, map: JSONValue, reduce: String?, order: KeyOrder) {
        let number = maps.indices.first { maps[$0] == map && orders[$0] == order } ?? maps.count
        if number == maps.count {
            maps.append(map)
            orders.append(order)
            reduces.append([])
        }
        var reducer: Int?
        if let reduce {
            reducer = reduces[number].firstIndex { $0.hasSameBytes(as: reduce) } ?? reduces[number].count
            if reducer == reduces[number].count { reduces[number].append(reduce) }
        }
        places[ExactText(name)] = (number, reducer)
    }

    /// The definitions that the index stores.
    ///
    /// - Parameter script: Makes a reducer of a function that is not built in.
    /// - Returns: The definitions, in the order of the map functions.
    func definitions(_ script: (String) -> any ViewReducer) -> [ViewDefinition] {
        zip(reduces, orders).map { list, order in
            ViewDefinition(reducers: list.map { BuiltInReducer.named($0, order: order) ?? script($0) }, order: order)
        }
    }
}
