internal import CZlib
package import RevisionTree

/// A bookmark as CouchDB writes it: a place in an index as an Erlang term, compressed if that pays, in URL-safe Base64.
///
///     [{startkey_docid, <<"doc">>}, {startkey, Key}]    →    g1AAAAA2eJzLYWBgYMpgSmHgKy5…
///
/// So a bookmark of one server is a place for another, too.
package enum BookmarkText {
    /// How long a bookmark may be, in bytes of its term; keys of an index are seldom longer than a few hundred.
    private static let longest = 1 << 20

    /// The text of a place.
    package static func encode(id: String, key: JSON) -> String {
        let place: ErlangTerm = .list([
            .tuple([.atom("startkey_docid"), .binary(id)]), .tuple([.atom("startkey"), .json(key)]),
        ])
        let term = Array(place.bytes.dropFirst())
        var bytes: [UInt8] = [131]
        if let packed = compressed(term), packed.count + 5 <= term.count {
            bytes.append(80)
            for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: term.count >> shift)) }
            bytes += packed
        } else {
            bytes += term
        }
        return Base64.encode(bytes).replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// The place of a text; `nil` for what is none.
    package static func decode(_ text: String) -> (id: String, key: JSON)? {
        let plain = text.replacing("-", with: "+").replacing("_", with: "/")
        let padded = plain + String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4)
        guard let bytes = Base64.decode(padded.utf8), bytes.count > 6, bytes[0] == 131 else { return nil }
        var term = bytes[1...]
        if bytes[1] == 80 {
            let count = bytes[2..<6].reduce(0) { $0 << 8 | Int($1) }
            guard count <= longest, let whole = expanded(bytes[6...], count: count) else { return nil }
            term = whole[...]
        }
        var reader = ErlangTermReader(term)
        guard let pairs = try? reader.pairs(), let id = pairs["startkey_docid"]?.string, let key = pairs["startkey"]
        else {
            return nil
        }
        return (id, key)
    }

    private static func compressed(_ bytes: [UInt8]) -> [UInt8]? {
        var length = compressBound(UInt(bytes.count))
        var output = [UInt8](repeating: 0, count: Int(length))
        guard compress2(&output, &length, bytes, UInt(bytes.count), 6) == Z_OK else { return nil }
        return Array(output.prefix(Int(length)))
    }

    private static func expanded(_ bytes: ArraySlice<UInt8>, count: Int) -> [UInt8]? {
        var length = UInt(count)
        var output = [UInt8](repeating: 0, count: max(count, 1))
        let input = Array(bytes)
        guard uncompress(&output, &length, input, UInt(input.count)) == Z_OK, length == UInt(count) else { return nil }
        return output
    }
}
