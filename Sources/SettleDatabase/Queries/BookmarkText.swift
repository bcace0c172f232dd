internal import CZlib
package import SettleCore

/// A bookmark in CouchDB's format: a position in an index as an Erlang term, compressed if that is smaller, in URL-safe
/// Base64.
///
///     [{startkey_docid, <<"doc">>}, {startkey, Key}]    →    g1AAAAA2eJzLYWBgYMpgSmHgKy5…
///
/// So a bookmark of one server is valid at another, too.
package enum BookmarkText {
    /// The maximum length of a bookmark's term in bytes; keys of an index are seldom longer than a few hundred.
    private static let longest = 1 << 20

    /// The bookmark for a position.
    package static func encode(id: String, key: JSONValue) -> String {
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
        return Base64.encodeForURL(bytes)
    }

    /// The position of a bookmark; `nil` for invalid input.
    package static func decode(_ text: String) -> (id: String, key: JSONValue)? {
        guard let bytes = Base64.decodeFromURL(text), bytes.count > 6, bytes[0] == 131 else { return nil }
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

    /// Up to how many bytes zlib's smallest window and buffers suffice.
    private static let longestOfSmall = 120

    /// Compresses bytes like zlib's `compress`, with as little memory as needed, because most bookmarks are short.
    static func compressed(_ bytes: [UInt8]) -> [UInt8]? {
        let isSmall = bytes.count <= longestOfSmall
        guard let body = deflated(bytes, window: isSmall ? 9 : 15, memory: isSmall ? 1 : 8) else { return nil }
        let sum = adler32(1, bytes, UInt32(bytes.count))
        // The header declares a window of 32 KiB, whichever was used.
        return [0x78, 0x9C] + body + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: sum >> $0) }
    }

    /// Compresses bytes without header and checksum.
    ///
    /// - Parameters:
    ///   - bytes: The bytes.
    ///   - window: The window size, as a power of two in bytes.
    ///   - memory: zlib's memory level, from 1 to 9.
    /// - Returns: The compressed bytes; `nil` if zlib has no memory.
    static func deflated(_ bytes: [UInt8], window: Int32, memory: Int32) -> [UInt8]? {
        var stream = z_stream()
        let size = Int32(MemoryLayout<z_stream>.size)
        let begun = deflateInit2_(
            &stream, 6, Z_DEFLATED, -window, memory, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
        guard begun == Z_OK else { return nil }
        defer { deflateEnd(&stream) }
        var input = bytes
        let bound = Int(deflateBound(&stream, UInt(bytes.count)))
        let output = [UInt8](unsafeUninitializedCapacity: bound) { output, count in
            count = input.withUnsafeMutableBufferPointer { input in
                (stream.next_in, stream.avail_in) = (input.baseAddress, UInt32(input.count))
                (stream.next_out, stream.avail_out) = (output.baseAddress, UInt32(output.count))
                return deflate(&stream, Z_FINISH) == Z_STREAM_END ? output.count - Int(stream.avail_out) : 0
            }
        }
        return output.isEmpty ? nil : output
    }

    private static func expanded(_ bytes: ArraySlice<UInt8>, count: Int) -> [UInt8]? {
        var length = UInt(count)
        var output = [UInt8](repeating: 0, count: max(count, 1))
        let input = Array(bytes)
        guard uncompress(&output, &length, input, UInt(input.count)) == Z_OK, length == UInt(count) else { return nil }
        return output
    }
}
