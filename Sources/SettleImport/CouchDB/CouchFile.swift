internal import Foundation
internal import SettleCore
internal import SettleCrypto

/// Reads a `.couch` file, one shard of a database of CouchDB.
///
/// The file only grows, and the header that was written last counts. It consists of blocks of 4096 bytes, each of which begins
/// with a byte that says whether a header begins there; contents continue after it.
///
///     header:  1, length (4), checksum (16), term     {db_header, version, sequence, _, ids, sequences, local, …}
///     chunk:   length (4; the highest bit: a checksum follows), [checksum (16)], bytes
///     tree:    {position, summary, size} → {kp_node, [{last key, tree}]} or {kv_node, [{key, value}]}
final class CouchFile {
    /// What the last header says.
    struct Header {
        let version: Int
        let uuid: String?
        let ids: StoredTerm
        let sequences: StoredTerm
        let locals: StoredTerm
        let hasSecurity: Bool
    }

    let name: String
    let header: Header
    /// How many bytes follow the last header that is whole: changes that were not committed, or whose header is damaged.
    let unread: Int
    private let file: ForeignFile

    private static let blockSize = 4096
    private static let checksumSize = 16
    private static let maximumHeader = 1 << 20

    /// Opens a file.
    ///
    /// - Throws: ``ForeignFileError`` if it has no header of a database.
    init(_ url: URL) throws {
        file = try ForeignFile(url)
        name = file.name
        var found: (header: Header, end: Int)?
        var block = file.size == 0 ? -1 : (file.size - 1) / Self.blockSize
        while block >= 0, found == nil {
            let start = block * Self.blockSize
            if try file.read(at: start, count: 1) == [1] {
                if let (term, end) = try? Self.headerTerm(file, start) { found = (try Self.header(term, name), end) }
            }
            block -= 1
        }
        guard let found else { throw ForeignFileError(.damaged, "\(name) has no header of CouchDB that is whole") }
        (header, unread) = (found.header, file.size - found.end)
    }

    /// Whether a file begins as one of CouchDB.
    static func isOne(_ url: URL) -> Bool {
        guard let file = try? ForeignFile(url), (try? file.read(at: 0, count: 1)) == [1] else { return false }
        return (try? headerTerm(file, 0)) != nil
    }

    /// The term of the header that begins at a place, and where it ends.
    private static func headerTerm(_ file: ForeignFile, _ start: Int) throws -> (StoredTerm, end: Int) {
        let head = try file.read(at: start + 1, count: 4)
        let length = head.reduce(0) { $0 << 8 | Int($1) }
        guard length > checksumSize, length <= maximumHeader else { throw damaged(file, start) }
        let bytes = try content(file, start + 5, length)
        guard isSum(Array(bytes[..<checksumSize]), of: bytes[checksumSize...]),
            let term = StoredTerm(Array(bytes[checksumSize...]))
        else { throw damaged(file, start) }
        return (term, start + 5 + length + marks(start + 5, length))
    }

    private static func header(_ term: StoredTerm, _ name: String) throws -> Header {
        guard let fields = term.tuple, fields.first?.atom == "db_header", fields.count >= 11,
            let version = fields[1].integer
        else { throw ForeignFileError(.unsupported, "\(name) is not a database of CouchDB, but another of its files") }
        guard (6...8).contains(version) else {
            throw ForeignFileError(
                .unsupported,
                "\(name) has disk version \(version), which Settle doesn't read: replicate it with CouchDB")
        }
        let uuid = fields.count > 11 ? fields[11].binary.map { String(decoding: $0, as: UTF8.self) } : nil
        return Header(
            version: version, uuid: uuid, ids: fields[4], sequences: fields[5], locals: fields[6],
            hasSecurity: fields[9].integer != nil)
    }

    private static func damaged(_ file: ForeignFile, _ position: Int) -> ForeignFileError {
        ForeignFileError(.damaged, "\(file.name) is damaged at \(position)")
    }

    private func damaged(_ position: Int) -> ForeignFileError { Self.damaged(file, position) }

    /// How many blocks begin within some bytes.
    private static func marks(_ start: Int, _ count: Int) -> Int {
        let first = min(count, blockSize - start % blockSize)
        return (count - first + blockSize - 2) / (blockSize - 1)
    }

    /// Bytes at a position, without the first ones of blocks.
    private static func content(_ file: ForeignFile, _ position: Int, _ count: Int) throws -> [UInt8] {
        guard position >= 0, count >= 0, count <= ForeignFile.maximumRecord, position < file.size else {
            throw damaged(file, position)
        }
        let start = position % blockSize == 0 ? position + 1 : position
        let first = min(count, blockSize - start % blockSize)
        let marks = marks(start, count)
        var bytes = try file.read(at: start, count: count + marks)
        guard marks > 0 else { return bytes }
        var filled = first
        for mark in 0..<marks {
            let source = first + mark * blockSize
            guard bytes[source] == 0 else { throw damaged(file, start + source) }
            let length = min(blockSize - 1, count - filled)
            bytes.withUnsafeMutableBytes { bytes in
                UnsafeMutableRawBufferPointer(rebasing: bytes[filled..<filled + length])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[source + 1..<source + 1 + length]))
            }
            filled += length
        }
        bytes.removeLast(marks)
        return bytes
    }

    /// Whether a checksum is that of bytes: MD5, or XXH128 since CouchDB 3.4.
    private static func isSum(_ sum: [UInt8], of bytes: ArraySlice<UInt8>) -> Bool {
        bytes.withUnsafeBytes { bytes in
            if XXH128.sum(bytes) == sum { return true }
            let md5 = MD5()
            md5.update(bytes)
            return md5.finish() == sum
        }
    }

    /// The bytes of a chunk, compared with its checksum if it has one.
    ///
    /// - Throws: ``ForeignFileError``.
    func chunk(at position: Int) throws -> [UInt8] {
        let head = try Self.content(file, position, 4)
        let number = head.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let count = Int(number & 0x7FFF_FFFF)
        guard count <= file.size else { throw damaged(position) }
        guard number >> 31 == 1 else { return Array(try Self.content(file, position, 4 + count)[4...]) }
        let bytes = try Self.content(file, position, 4 + Self.checksumSize + count)
        let content = bytes[(4 + Self.checksumSize)...]
        guard Self.isSum(Array(bytes[4..<4 + Self.checksumSize]), of: content) else {
            throw ForeignFileError(.damaged, "\(name) is damaged: the checksum at \(position) differs")
        }
        return Array(content)
    }

    /// The term in a chunk.
    ///
    /// - Throws: ``ForeignFileError``.
    func term(at position: Int) throws -> StoredTerm {
        guard let term = StoredTerm(try chunk(at: position)) else { throw damaged(position) }
        return term
    }

    // MARK: - Trees

    /// A node on the path to the place in a tree.
    private struct Node {
        let position: Int
        let isLeaf: Bool
        var pairs: ArraySlice<(key: StoredTerm, value: StoredTerm)>
    }

    /// Reads a node. It was written before the node that refers to it, so positions fall on every path.
    private func node(_ reference: StoredTerm, below parent: Int) throws -> Node {
        guard let position = reference.tuple?.first?.integer, position >= 0, position < parent else {
            throw damaged(parent)
        }
        let term = try term(at: position)
        guard let fields = term.tuple, fields.count == 2, let list = fields[1].list, !list.isEmpty,
            let kind = fields[0].atom, ["kp_node", "kv_node"].contains(kind)
        else { throw damaged(position) }
        let pairs = try list.map { pair in
            guard let pair = pair.tuple, pair.count == 2 else { throw damaged(position) }
            return (key: pair[0], value: pair[1])
        }
        return Node(position: position, isLeaf: kind == "kv_node", pairs: pairs[...])
    }

    /// Whether a root is that of an empty tree.
    private static func isEmpty(_ root: StoredTerm) -> Bool { root.atom == "nil" }

    /// Passes the pairs of a tree in order, with one path in memory.
    ///
    /// - Parameters:
    ///   - root: The tree.
    ///   - order: What of a key orders it; `nil` for a key of another kind.
    ///   - start: The first keys, up to this one, are passed over.
    ///   - body: Receives a key and its value.
    /// - Throws: ``ForeignFileError``, and what `body` throws.
    func forEach<Key: Comparable>(
        in root: StoredTerm, by order: (StoredTerm) -> Key?, after start: Key? = nil,
        _ body: (Key, StoredTerm) throws -> Void
    ) throws {
        if Self.isEmpty(root) { return }
        var path = [try node(root, below: file.size)]
        var last: Key? = start
        while let top = path.last {
            guard let pair = path[path.count - 1].pairs.popFirst() else {
                path.removeLast()
                continue
            }
            guard let key = order(pair.key) else { throw damaged(top.position) }
            if let start, key <= start { continue }
            guard top.isLeaf else {
                path.append(try node(pair.value, below: top.position))
                continue
            }
            if let last, key <= last { throw damaged(top.position) }
            last = key
            try body(key, pair.value)
        }
    }

    /// The value of a key in the tree of ids; `nil` if it is not there.
    ///
    /// - Throws: ``ForeignFileError``.
    func value(of id: ArraySlice<UInt8>) throws -> StoredTerm? {
        if Self.isEmpty(header.ids) { return nil }
        var node = try node(header.ids, below: file.size)
        while true {
            let found = node.pairs.first { !LevelKey.precedes($0.key.binary ?? [], id) }
            guard let found else { return nil }
            if node.isLeaf { return found.key.binary?.elementsEqual(id) == true ? found.value : nil }
            node = try self.node(found.value, below: node.position)
        }
    }

    /// The number of documents, tombstones included, as the tree of ids sums it up; `nil` if it does not.
    var count: Int? {
        if Self.isEmpty(header.ids) { return 0 }
        guard let sums = header.ids.tuple?.dropFirst().first?.tuple, sums.count >= 2, let live = sums[0].integer,
            let deleted = sums[1].integer, (0...file.size).contains(live), (0...file.size).contains(deleted)
        else { return nil }
        return live + deleted
    }
}
