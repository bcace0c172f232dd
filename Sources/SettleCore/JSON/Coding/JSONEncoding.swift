/// The encoder behind ``JSON/init(encoding:)``.
struct JSONEncoding: Encoder {
    let node: JSONEncodingNode

    var codingPath: [any CodingKey] { node.path }

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.becomeObject()
        return KeyedEncodingContainer(JSONKeyedEncoding<Key>(node: node))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.becomeArray()
        return JSONUnkeyedEncoding(node: node)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { JSONSingleEncoding(node: node) }
}
