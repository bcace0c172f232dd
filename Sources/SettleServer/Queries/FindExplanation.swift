internal import SettleCore
internal import SettleDatabase
internal import SettleQuery
internal import SettleViews

/// The answer of `_explain` to a query.
struct FindExplanation {
    let request: FindRequest
    let plan: QueryPlan
    /// The database's name.
    let name: String

    /// The answer as JSON.
    var json: JSONValue {
        let options = request.options
        var members: [(String, JSONValue)] = [
            ("dbname", .string(name)), ("index", plan.index.map(Self.json) ?? .null), ("partitioned", false),
            ("selector", options.selector.normal), ("opts", request.json),
            ("limit", .number(JSONNumber(options.limit))), ("skip", .number(JSONNumber(options.skip))),
            ("fields", .array(options.fields.map { .string($0) })),
            ("index_candidates", .array(plan.candidates.map(candidate))),
            (
                "selector_hints",
                [
                    [
                        "type": "json", "indexable_fields": .array(plan.indexableFields.map { .string($0) }),
                        "unindexable_fields": .array(plan.unindexableFields.map { .string($0) }),
                    ]
                ]
            ),
        ]
        if let search = plan.search {
            members += [("query", .string(search)), ("partition", nil), ("sort", sort)]
        } else if plan.index != nil {
            members.append(("mrargs", arguments))
            members.append(("covering", .bool(plan.isCovering)))
        }
        return .object(JSONObject(members))
    }

    private var sort: JSONValue {
        guard !request.options.sort.isEmpty else { return "relevance" }
        return .array(request.options.sort.map { .string(($0.isDescending ? "-" : "") + $0.path) })
    }

    private var arguments: JSONValue {
        [
            "include_docs": .bool(!plan.isCovering && !request.options.isQuorum), "view_type": "map", "reduce": false,
            "partition": nil, "start_key": plan.start, "end_key": plan.end,
            "direction": plan.isDescending ? "rev" : "fwd", "stable": .bool(request.isStable || request.isStale),
            "update": .bool(request.options.isUpdated),
            "conflicts": request.options.hasConflicts ? true : "undefined",
        ]
    }

    private func candidate(_ candidate: QueryPlan.Candidate) -> JSONValue {
        // CouchDB considers only the fields that are shown.
        let fields = request.options.fields
        let isCovering = !fields.isEmpty && candidate.index.has(fields)
        let covers: JSONValue =
            candidate.index.isAllDocuments || candidate.index.search != nil ? .null : .bool(isCovering)
        return [
            "index": Self.json(candidate.index),
            "analysis": [
                "usable": .bool(candidate.isUsable), "reasons": [["name": .string(candidate.reason)]],
                "ranking": .number(JSONNumber(candidate.rank)), "covering": covers,
            ],
        ]
    }

    /// The name of an index's type.
    static func type(of index: QueryIndex) -> String {
        index.isAllDocuments ? "special" : index.search == nil ? "json" : "text"
    }

    /// An index as lists show it.
    static func json(_ index: QueryIndex) -> JSONValue {
        guard let document = index.designDocument else {
            return [
                "ddoc": nil, "name": .string(index.name), "type": "special", "def": index.definition,
            ]
        }
        return [
            "ddoc": .string(document.string), "name": .string(index.name), "type": .string(type(of: index)),
            "partitioned": .bool(index.isPartitioned), "def": index.definition,
        ]
    }
}
