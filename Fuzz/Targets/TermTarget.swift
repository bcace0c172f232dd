import SettleCore
import SettleImport

/// Terms of Erlang; if the first byte is `{`, the metadata of a document of PouchDB.
enum TermTarget {
    static func run(_ bytes: [UInt8]) throws {
        if bytes.first == UInt8(ascii: "{") { return try metadata(bytes) }
        if let term = StoredTerm(bytes) { try walk(term) }
        guard let plain = StoredTerm.expand(bytes), let json = TermJSON.text(plain) else { return }
        do { _ = try JSONValue(utf8: json) } catch {
            let isKnown = [JSONError.Code.tooDeep, .invalidUTF8, .loneSurrogate, .numberOutOfRange].contains(error.code)
            try require(isKnown, "what prints is JSON: \(error)")
        }
    }

    private static func walk(_ term: StoredTerm) throws {
        var rest = [term]
        var count = 0
        while let next = rest.popLast(), count < 100_000 {
            count += 1
            _ = (next.integer, next.integers, next.atom, next.binary)
            rest += next.tuple ?? next.list ?? []
            try require(next.start < next.text.count, "a term is within the bytes")
        }
    }

    private static func metadata(_ bytes: [UInt8]) throws {
        guard let metadata = try? PouchMetadata(bytes) else { return }
        for index in metadata.leaves {
            guard let history = metadata.history(of: index) else { throw FuzzFailure("a leaf has a history") }
            try require(history.signatures.count <= Int(clamping: history.start), "a history reaches no further than 1")
        }
    }
}
