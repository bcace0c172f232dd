internal import SettleCore
internal import SettleDatabase

/// A document with the members that a covering index has: its id, and the members in the row's key.
enum CoveredDocument {
    /// Whether a row's members can be reconstructed: none of them is inside another.
    static func canDerive(_ index: QueryIndex) -> Bool {
        let paths = index.columns.compactMap { SelectorPath($0).names }
        guard paths.count == index.columns.count else { return false }
        return !paths.indices.contains { left in
            paths.indices.contains { right in left != right && paths[right].starts(with: paths[left]) }
        }
    }

    /// The document.
    static func derive(_ index: QueryIndex, key: UnsafeBufferPointer<UInt8>, id: DocumentID) -> JSONValue {
        var document: JSONValue = ["_id": .string(id.string)]
        let values = (try? JSONValue(utf8: key))?.array ?? []
        for (column, value) in zip(index.columns, values) where column != "_id" {
            set(value, at: (SelectorPath(column).names ?? [])[...], in: &document)
        }
        return document
    }

    private static func set(_ value: JSONValue, at names: ArraySlice<String>, in whole: inout JSONValue) {
        guard let name = names.first else {
            whole = value
            return
        }
        var inner = whole[name] ?? .object(JSONObject())
        set(value, at: names.dropFirst(), in: &inner)
        whole[name] = inner
    }
}
