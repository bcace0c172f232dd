extension JSONEncodingNode {
    /// Encodes a value at this place.
    func encode(_ value: some Encodable) throws {
        guard path.count <= JSONLimits.depth else {
            throw invalid(value, "more than \(JSONLimits.depth) levels of arrays and objects")
        }
        try value.encode(to: JSONEncoding(node: self))
        if value is any KeysWithoutOrder, case .object(let members) = try json() {
            let sorted = members.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
            set(.object(JSONObject(sorted.map { ($0.name, $0.value) })))
        }
    }

    /// The JSON of a value that is to stand at a place in here.
    func encoded(_ value: some Encodable, at key: some CodingKey) throws -> JSON {
        let node = JSONEncodingNode(path: path + [key])
        try node.encode(value)
        return try node.json()
    }

    /// The JSON of a float in the fewest digits.
    func encoded(_ value: Double, at key: (any CodingKey)? = nil) throws -> JSON {
        guard let number = JSONNumber(value) else {
            throw JSONEncodingNode(path: path + (key.map { [$0] } ?? [])).invalid(value, "JSON has no \(value)")
        }
        return .number(number)
    }

    /// The JSON of a float in the fewest digits a `Float` needs, which are fewer than a `Double` does.
    func encoded(_ value: Float, at key: (any CodingKey)? = nil) throws -> JSON {
        try encoded(Double(value.description) ?? Double(value), at: key)
    }
}

/// A collection that encodes itself as an object whose members have no order of their own.
private protocol KeysWithoutOrder {}

extension Dictionary: KeysWithoutOrder {}
