/// Encodes the one value of a place.
struct JSONSingleEncoding: SingleValueEncodingContainer {
    let node: JSONEncodingNode

    var codingPath: [any CodingKey] { node.path }

    func encodeNil() throws { node.set(.null) }

    func encode(_ value: Bool) throws { node.set(.bool(value)) }

    func encode(_ value: String) throws { node.set(.string(value)) }

    func encode(_ value: Double) throws { node.set(try node.encoded(value)) }

    func encode(_ value: Float) throws { node.set(try node.encoded(value)) }

    func encode(_ value: some FixedWidthInteger & Encodable) throws { node.set(.number(JSONNumber(value))) }

    func encode(_ value: Int128) throws { node.set(.number(JSONNumber(value))) }

    func encode(_ value: UInt128) throws { node.set(.number(JSONNumber(value))) }

    func encode(_ value: some Encodable) throws { try node.encode(value) }
}
