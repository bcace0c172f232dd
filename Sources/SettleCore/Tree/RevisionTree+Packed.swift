extension RevisionTree {
    /// The version of the packed form that ``packed()`` writes.
    package static let packedVersion: UInt8 = 1

    /// The tree as bytes, for storing: canonical, so equal trees have equal bytes.
    ///
    ///     version          1 byte, 1
    ///     node count       varint
    ///     per node         in ascending order of revision ids
    ///       flags          1 byte: deleted 1, superseded 2, shared 4, has body token 8,
    ///                              text signature 16, has parent 32, parent is the node before 64, has marks 128
    ///       marks          1 byte, if there are any: closing 1, deletion 2, incoming 4
    ///       generation     varint: the difference to the node before (of the first: itself)
    ///       signature      16 bytes, or for text: varint length and UTF-8
    ///       parent         varint index, if there is one and it is not the node before
    ///       body token     varint, if there is one
    ///
    /// A varint is little-endian base 128, as in LEB128. A document of one revision takes 20 bytes.
    public func packed() -> [UInt8] { packed(after: 0) }

    /// The packed tree after some zeros, which the caller overwrites.
    package func packed(after zeros: Int) -> [UInt8] {
        var writer = PackedWriter(capacity: 16 + zeros + nodes.count * 24)
        for _ in 0..<zeros { writer.append(0) }
        writer.append(Self.packedVersion)
        writer.append(varint: UInt64(nodes.count))
        var generation: UInt64 = 0
        for (index, node) in nodes.enumerated() {
            writer.append(PackedFlags(node, at: index).rawValue)
            if !node.marks.isEmpty { writer.append(node.marks.rawValue) }
            writer.append(varint: node.revision.generation - generation)
            generation = node.revision.generation
            writer.append(node.revision.signature)
            if let parent = node.parentIndex, parent != index - 1 { writer.append(varint: UInt64(parent)) }
            if node.bodyToken != 0 { writer.append(varint: node.bodyToken) }
        }
        return writer.bytes
    }

    /// Reads a tree back from its packed form.
    ///
    /// - Throws: ``RevisionTreeError`` with code `unknownFormat` for another version, otherwise `malformed`; invalid
    ///   bytes never crash and never give a tree that breaks an invariant.
    public init(packed bytes: UnsafeRawBufferPointer) throws(RevisionTreeError) {
        var reader = PackedReader(bytes)
        guard let version = reader.byte() else { throw Self.malformed("no bytes") }
        guard version == Self.packedVersion else {
            throw RevisionTreeError(.unknownFormat, "version \(version) of a packed tree is not known")
        }
        guard let count = reader.varint(), count <= UInt64(bytes.count / 3) else { throw Self.malformed("node count") }
        var generation: UInt64 = 0
        if count == 1 {
            guard let node = reader.node(at: 0, generation: &generation) else { throw Self.malformed("node 0") }
            nodes = [node]
        } else {
            nodes = []
            nodes.reserveCapacity(Int(count))
            for index in 0..<Int(count) {
                guard let node = reader.node(at: index, generation: &generation) else {
                    throw Self.malformed("node \(index)")
                }
                nodes.append(node)
            }
        }
        guard reader.isAtEnd else { throw Self.malformed("bytes behind the last node") }
        if let broken = brokenInvariant { throw Self.malformed(broken) }
    }

    /// Reads a tree back from its packed form; see ``init(packed:)-(UnsafeRawBufferPointer)``.
    public init(packed bytes: [UInt8]) throws(RevisionTreeError) {
        let result = bytes.withUnsafeBytes { raw -> Result<RevisionTree, RevisionTreeError> in
            do throws(RevisionTreeError) { return .success(try RevisionTree(packed: raw)) } catch {
                return .failure(error)
            }
        }
        self = try result.get()
    }

    private static func malformed(_ what: String) -> RevisionTreeError {
        RevisionTreeError(.malformed, "not a packed revision tree: \(what)")
    }
}
