import SettleCore
import SettleImport

/// What a database of Couchbase Lite 2 to 4 has in its columns.
///
///     first byte, its remainder by 4     0 a value    1 a base and a value    2 a tree    3 a version vector
enum FleeceTarget {
    static func run(_ bytes: [UInt8]) throws {
        guard let first = bytes.first else { return }
        let input = Array(bytes.dropFirst())
        switch first % 4 {
        case 0: try value(Fleece(input, sharedKeys: ["a", "b", "é"]), length: input.count)
        case 1:
            let base = Array(input.prefix(Int(first >> 2)))
            try value(Fleece(Array(input.dropFirst(base.count)), base: base), length: input.count)
        case 2: try tree(input)
        default:
            guard let versions = try? LiteCoreVersions(input, device: [UInt8](repeating: 7, count: 16)) else { return }
            try require(
                versions.history.revision.signature == versions.signature, "the current version is first in its history"
            )
        }
    }

    private static func value(_ fleece: Fleece, length: Int) throws {
        guard let text = try? fleece.json().text else { return }
        try require(text.count <= max(1 << 20, length << 10) + 8 * length + 64, "the text is bounded")
        guard let value = try? JSONValue(utf8: text) else { throw FuzzFailure("what is read is JSON") }
        // Of two members with one name the last counts, so the text may be shorter.
        try require(value.utf8.count <= text.count, "what is read is compact")
    }

    private static func tree(_ bytes: [UInt8]) throws {
        guard let tree = try? LiteCoreTree(bytes) else { return }
        try require(LiteCoreTree.isTree(bytes), "what is read as a tree is recognized as one")
        try require(!tree.records.isEmpty, "a tree has a revision")
        try require(
            tree.remotes.values.allSatisfy { tree.records.indices.contains($0) }, "a peer has a revision of the tree")
    }
}
