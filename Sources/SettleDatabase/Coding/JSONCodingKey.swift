/// A key that is any name, or an index in an array.
struct JSONCodingKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    /// Makes a member's key.
    init(_ name: String) {
        stringValue = name
        intValue = nil
    }

    /// Makes an element's key.
    init(_ index: Int) {
        stringValue = "Index \(index)"
        intValue = index
    }

    init?(stringValue: String) { self.init(stringValue) }

    init?(intValue: Int) { self.init(intValue) }

    /// The key of a superclass's members.
    static let `super` = JSONCodingKey("super")
}
