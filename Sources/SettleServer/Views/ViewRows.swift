internal import SettleCore
internal import SettleDatabase
internal import SettleViews

/// What rows some views need: those with the same map function and order share them.
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
    /// - Parameter script: What runs a reduce function that is none of CouchDB's own.
    /// - Returns: The definitions, in the order of the map functions.
    func definitions(_ script: (String) -> any ViewReducer) -> [ViewDefinition] {
        zip(reduces, orders).map { list, order in
            ViewDefinition(reducers: list.map { BuiltInReducer.named($0, order: order) ?? script($0) }, order: order)
        }
    }
}
