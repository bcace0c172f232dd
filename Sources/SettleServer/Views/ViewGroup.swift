internal import RevisionTree
internal import SettleDatabase
internal import SettleScripting
internal import SettleViews

/// The views of a design document, and the index they share.
///
/// Views with the same map function and order share its rows. The index is named by what its rows depend on, so two design documents
/// with the same views share one, and one that is changed gets another.
struct ViewGroup: Sendable {
    /// Where a view's rows are, and what reduces them.
    struct View: Sendable {
        let number: Int
        /// The order of its keys.
        let order: KeyOrder
        /// Which of the reduce functions of its rows is its own.
        let reducer: Int?
    }

    let design: DesignDocument
    /// The name of the index.
    let signature: String
    let index: ViewIndex
    let mapper: any ViewMapper
    private let views: [String: View]

    /// The views of a design document.
    ///
    /// - Throws: ``HTTPError`` when it has none that can be run.
    init(_ design: DesignDocument, of database: Database, by scripts: Scripts) throws {
        let isQuery = design.language == "query"
        guard isQuery || design.language == "javascript" else {
            throw HTTPError(500, "unknown_query_language", "\(design.language)")
        }
        self.design = design
        let options = design.members["options"]?.object ?? JSONObject()
        let definitions = design.members["views"]?.object ?? JSONObject()
        signature = Self.signature(definitions, options)
        var maps: [JSON] = []
        var orders: [KeyOrder] = []
        var reduces: [[String]] = []
        var views: [String: View] = [:]
        for view in definitions where view.name != "lib" {
            guard let map = view.value["map"], isQuery ? map.object != nil : map.string != nil else { continue }
            let order = Self.order(of: view.value)
            let number = maps.indices.first { maps[$0] == map && orders[$0] == order } ?? maps.count
            if number == maps.count {
                maps.append(map)
                orders.append(order)
                reduces.append([])
            }
            var reducer: Int?
            if let reduce = view.value["reduce"]?.string, !reduce.isEmpty {
                reducer = reduces[number].firstIndex(of: reduce) ?? reduces[number].count
                if reducer == reduces[number].count { reduces[number].append(reduce) }
            }
            views[view.name] = View(number: number, order: order, reducer: reducer)
        }
        self.views = views
        if isQuery {
            mapper = try QueryViewMapper(maps: maps)
        } else {
            let source = ScriptSource(
                owner: design.source.owner, key: signature, maps: maps.compactMap(\.string),
                library: definitions["lib"]?.utf8)
            mapper = ScriptMapper(pool: scripts.pool, source: source, hasSequence: options["local_seq"] == true)
        }
        let reducing = ScriptSource(owner: design.source.owner, key: signature + " reduce", document: Array("{}".utf8))
        index = try IndexFolder.of(database).index(signature) { path in
            ViewIndex(
                path: path,
                definitions: zip(reduces, orders).map { list, order in
                    ViewDefinition(
                        reducers: list.map { reduce in
                            BuiltInReducer.named(reduce, order: order)
                                ?? ScriptReducer(pool: scripts.pool, source: reducing, function: reduce)
                        }, order: order)
                }, includesDesign: options["include_design"] == true)
        }
    }

    /// A view by its name.
    ///
    /// - Throws: ``HTTPError`` with status 404.
    func view(_ name: String) throws -> View {
        guard let view = views[name] else { throw HTTPError.notFound("missing_named_view") }
        return view
    }

    /// What `_info` tells of the index.
    func info(of database: Database, isRunning: Bool) throws -> JSON {
        let size = JSON.number(JSONNumber(IndexFolder.of(database).size(signature)))
        let sequence = try index.sequence()
        let pending = JSON.number(JSONNumber(try database.count(changedIn: SequenceRange(after: sequence))))
        return [
            "signature": .string(signature), "language": .string(design.language),
            "sizes": ["file": size, "external": size, "active": size],
            "update_seq": .number(JSONNumber(sequence.number)),
            "purge_seq": .number(JSONNumber(try PurgeLog.count(in: database))), "updater_running": .bool(isRunning),
            "compact_running": false, "waiting_clients": 0, "waiting_commit": false,
            "updates_pending": ["minimum": pending, "preferred": pending, "total": pending],
            "collator_versions": [.string(Collation.version)],
        ]
    }

    /// The order that a view's member `options` asks for.
    private static func order(of view: JSON) -> KeyOrder {
        view["options"]?["collation"] == "raw" ? .raw : .collation
    }

    /// The name of the index of some views.
    static func signature(_ views: JSONObject, _ options: JSONObject) -> String {
        var parts: [JSON] = [.object(views), .object(options), .string(Collation.version)]
        // Files of earlier versions have such views in the other order.
        if views.contains(where: { order(of: $0.value) == .raw }) { parts.append("raw") }
        let text = JSON.array(parts).utf8
        return Hexadecimal.encode(Array(HashFunction.sha256.hash(text).prefix(16)))
    }
}
