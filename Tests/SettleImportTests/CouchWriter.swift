import Foundation
import SettleCore
import SettleCrypto
import SettlePlatform

@testable import SettleImport

/// Writes `.couch` files: chunks in blocks, trees of small nodes, and a header.
struct CouchWriter {
    private(set) var bytes: [UInt8] = []
    /// Whether chunks have XXH128 sums instead of MD5.
    var hasNewSums = true

    /// Terms of Erlang in the external format.
    indirect enum Term {
        case atom(String)
        case integer(Int)
        case binary([UInt8])
        case tuple([Term])
        case list([Term])
        case body(DocumentBody)

        static func text(_ text: String) -> Term { .binary(Array(text.utf8)) }

        var bytes: [UInt8] { [131] + inner }

        private var inner: [UInt8] {
            switch self {
            case .atom(let name): return [119, UInt8(name.utf8.count)] + name.utf8
            case .integer(let number) where 0..<256 ~= number: return [97, UInt8(number)]
            case .integer(let number): return [110, 8, 0] + LevelWriter.little(UInt64(number), count: 8)
            case .binary(let bytes): return [109] + Self.big(bytes.count) + bytes
            case .tuple(let terms): return [104, UInt8(terms.count)] + terms.flatMap(\.inner)
            case .list(let terms):
                return terms.isEmpty ? [106] : [108] + Self.big(terms.count) + terms.flatMap(\.inner) + [106]
            case .body(let body): return Array(ErlangTerm.members(body).bytes.dropFirst())
            }
        }

        static func big(_ number: Int) -> [UInt8] { LevelWriter.little(UInt64(number), count: 4).reversed() }
    }

    /// Appends bytes, with a zero at the beginning of each block.
    private mutating func append(_ content: [UInt8]) {
        for byte in content {
            if bytes.count % 4096 == 0 { bytes.append(0) }
            bytes.append(byte)
        }
    }

    private func sum(_ content: [UInt8]) -> [UInt8] {
        if hasNewSums { return content.withUnsafeBytes { XXH128.sum($0) } }
        let md5 = MD5()
        md5.update(content)
        return md5.finish()
    }

    /// Appends a chunk.
    ///
    /// - Returns: Its position.
    mutating func chunk(_ content: [UInt8], hasSum: Bool = true) -> Int {
        let position = bytes.count
        var head = Term.big(content.count)
        if hasSum { head[0] |= 0x80 }
        append(head + (hasSum ? sum(content) : []) + content)
        return position
    }

    /// Appends a tree of nodes with a few pairs.
    mutating func tree(_ pairs: [(Term, Term)], width: Int = 3) -> Term {
        if pairs.isEmpty { return .atom("nil") }
        var (level, kind) = (pairs, "kv_node")
        while true {
            var above: [(Term, Term)] = []
            for start in stride(from: 0, to: level.count, by: width) {
                let part = level[start..<min(start + width, level.count)]
                let node = Term.tuple([.atom(kind), .list(part.map { .tuple([$0.0, $0.1]) })])
                let position = chunk(node.bytes, hasSum: false)
                if let last = part.last {
                    above.append((last.0, .tuple([.integer(position), .list([]), .integer(1)])))
                }
            }
            if above.count == 1 { return above[0].1 }
            (level, kind) = (above, "kp_node")
        }
    }

    /// Appends a body.
    mutating func body(_ body: DocumentBody, attachments: [Term] = []) -> Int {
        let snappy: (Term) -> Term = { .binary([1] + LevelWriter.snappy($0.bytes)) }
        return chunk(Term.tuple([snappy(.body(body)), snappy(.list(attachments))]).bytes)
    }

    /// Appends a header.
    mutating func header(ids: Term = .atom("nil"), sequences: Term, locals: Term = .atom("nil"), version: Int = 8) {
        while bytes.count % 4096 != 0 { bytes.append(0) }
        let fields: [Term] = [
            .atom("db_header"), .integer(version), .integer(1), .integer(0), ids, sequences, locals, .atom("nil"),
            .atom("nil"), .atom("nil"), .integer(1000), .text("uuid"),
        ]
        let content = Term.tuple(fields).bytes
        bytes.append(1)
        append(Term.big(content.count + 16) + sum(content) + content)
    }
}
