internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform
internal import SettleQuery
internal import SettleScripting
internal import SettleViews

/// The views of a design document, and the files with their rows.
///
/// Views with the same map function and order share their rows, and all of a design document lie in one file. It is named by
/// what its rows depend on, so two design documents with the same views share one, and one that is changed gets another. Indexes
/// of queries have the files that `_find` uses.
struct ViewGroup: Sendable {
    /// A file with rows of views, and what makes them.
    struct Part: Sendable {
        /// The name of the file among the indexes of a database.
        let fileName: String
        let index: ViewIndex
        let mapper: any ViewMapper

        /// Brings it to where the database is now.
        ///
        /// - Throws: As ``ViewIndex/update(from:by:report:)`` does.
        func update(from database: Database, report: (_ done: Int, _ total: Int) throws -> Void) throws {
            try index.update(from: database, by: mapper, report: report)
        }
    }

    /// The place of a view's rows, and their reduce function.
    struct View: Sendable {
        /// The file.
        let part: Part
        /// Which of the views of the file it is.
        let number: Int
        /// The order of its keys.
        let order: KeyOrder
        /// Which of the reduce functions of its rows is its own.
        let reducer: Int?
    }

    let design: DesignDocument
    /// The name of its own file.
    let signature: String
    private let parts: [Part]
    private let views: [String: View]

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
        var (parts, views): ([Part], [String: View]) = ([], [:])
        var own = ViewRows()
        for view in definitions where view.name != "lib" {
            if isQuery, options["include_design"] != true, let index = QueryIndex(counting: view, of: design.id) {
                let part = try parts.first { $0.fileName == index.fileName } ?? Part(index, of: database)
                if !parts.contains(where: { $0.fileName == part.fileName }) { parts.append(part) }
                let reducer = view.value["reduce"]?.string.map { _ in 0 }
                views[view.name] = View(part: part, number: 0, order: .collation, reducer: reducer)
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

    /// The own file of a design document.
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

    /// A view by its name.
    ///
    /// - Throws: ``HTTPError`` with status 404, or 500 for those of a language that is not spoken here.
    func view(_ name: String) throws -> View {
        if parts.isEmpty { throw HTTPError(500, "unknown_query_language", "\(design.language)") }
        guard let view = views[name] else { throw HTTPError.notFound("missing_named_view") }
        return view
    }

    /// The facts of the files for `_info`: the position is that of the least updated one.
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

    /// The order that a view's member `options` asks for.
    private static func order(of view: JSONValue) -> KeyOrder {
        view["options"]?["collation"] == "raw" ? .raw : .collation
    }

    /// The name of the index of some views.
    static func signature(_ views: JSONObject, _ options: JSONObject) -> String {
        var parts: [JSONValue] = [.object(views), .object(options), .string(Collation.version)]
        // Files of earlier versions have such views in the other order.
        if views.contains(where: { order(of: $0.value) == .raw }) { parts.append("raw") }
        let text = JSONValue.array(parts).utf8
        return Hexadecimal.encode(Array(HashFunction.sha256.hash(text).prefix(16)))
    }
}

extension ViewGroup.Part {
    /// The rows that `_find` uses of an index.
    init(_ index: QueryIndex, of database: Database) throws {
        let (rows, mapper) = try index.files(in: database)
        self.init(fileName: index.fileName, index: rows, mapper: mapper)
    }
}

// MARK: - ViewGroups

/// The views of a database's design documents that were asked lately, kept as long as no design document changes.
final class ViewGroups: Sendable {
    private struct State {
        var age: UInt64?
        var scripts: Scripts?
        var groups: [String: ViewGroup] = [:]
    }

    private let state = Guarded(State())
    /// The number of those that are kept.
    private static let most = 16

    private init() {}

    /// The views of a design document if they are kept, whatever runs their scripts.
    static func known(_ design: String, of source: any DocumentSource) -> ViewGroup? {
        let age = source.designEpoch
        return source.known(ViewGroups.self)?.state.withLock { $0.age == age ? $0.groups[design] : nil }
    }

    /// The views of a design document.
    ///
    /// - Throws: ``HTTPError`` when there is no such design document, or it has no views that can be run.
    static func group(_ design: String, of database: Database, by scripts: Scripts) throws -> ViewGroup {
        let own = database.companion(ViewGroups.self) { ViewGroups() }
        // Taken before it is read: what is written meanwhile makes it old.
        let age = database.designEpoch
        let known = own.state.withLock { $0.age == age && $0.scripts === scripts ? $0.groups[design] : nil }
        if let known { return known }
        let made = try ViewGroup(DesignDocuments.document(design, of: database), of: database, by: scripts)
        own.state.withLock { state in
            if state.age != age || state.scripts !== scripts || state.groups.count >= most {
                state = State(age: age, scripts: scripts)
            }
            state.groups[design] = made
        }
        return made
    }
}

// MARK: - ViewRows

/// The rows that some views need: those with the same map function and order share them.
struct ViewRows {
    /// The map functions, each with its order.
    private(set) var maps: [JSONValue] = []
    private(set) var orders: [KeyOrder] = []
    /// The reduce functions of each.
    private var reduces: [[String]] = []
    /// Which rows a view has, and which of their reduce functions.
    private(set) var places: [String: (number: Int, reducer: Int?)] = [:]

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
            reducer = reduces[number].firstIndex(of: reduce) ?? reduces[number].count
            if reducer == reduces[number].count { reduces[number].append(reduce) }
        }
        places[name] = (number, reducer)
    }

    /// How they are kept.
    ///
    /// - Parameter script: Runs a reduce function that is not built in.
    /// - Returns: The definitions, in the order of the map functions.
    func definitions(_ script: (String) -> any ViewReducer) -> [ViewDefinition] {
        zip(reduces, orders).map { list, order in
            ViewDefinition(reducers: list.map { BuiltInReducer.named($0, order: order) ?? script($0) }, order: order)
        }
    }
}
