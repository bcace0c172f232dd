internal import SettlePlatform

extension RevisionTree {
    /// The version of the packed form that ``packed()`` writes.
    package static let packedVersion: UInt8 = 1

    /// The tree as bytes for storage. They are canonical: equal trees have equal bytes.
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
    /// - Throws: ``RevisionTreeError`` with code `unknownFormat` for another version, otherwise `malformed`.
    ///   Invalid bytes never crash, and never result in a tree that violates an invariant.
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

// MARK: - PackedReader

/// Parses a packed tree. Every method returns `nil` if the bytes are not a valid tree.
struct PackedReader {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var isAtEnd: Bool { offset == bytes.count }

    mutating func byte() -> UInt8? {
        guard offset < bytes.count else { return nil }
        defer { offset += 1 }
        return bytes[offset]
    }

    mutating func varint() -> UInt64? { VariableNumber.read(bytes, &offset) }

    mutating func node(at index: Int, generation: inout UInt64) -> RevisionNode? {
        guard let raw = byte(), let flags = PackedFlags(valid: raw), let marks = marks(flags), let step = varint()
        else { return nil }
        let (sum, overflow) = generation.addingReportingOverflow(step)
        guard !overflow, let signature = signature(isText: flags.contains(.isText)),
            let revision = RevisionID(generation: sum, signature: signature)
        else { return nil }
        generation = sum
        var parent: Int?
        if flags.contains(.followsPrevious) {
            parent = index - 1
        } else if flags.contains(.hasParent) {
            guard let position = varint(), index > 0, position < UInt64(index - 1) else { return nil }
            parent = Int(position)
        }
        guard parent != -1 else { return nil }
        var token: UInt64 = 0
        if flags.contains(.hasBodyToken) {
            guard let stored = varint(), stored != 0 else { return nil }
            token = stored
        }
        return RevisionNode(
            revision, parent: parent, isDeleted: flags.contains(.isDeleted),
            isSuperseded: flags.contains(.isSuperseded), isShared: flags.contains(.isShared), marks: marks,
            bodyToken: token)
    }

    private mutating func marks(_ flags: PackedFlags) -> RevisionMarks? {
        guard flags.contains(.hasMarks) else { return [] }
        guard let raw = byte(), raw != 0, raw <= RevisionMarks.all.rawValue else { return nil }
        return RevisionMarks(rawValue: raw)
    }

    private mutating func signature(isText: Bool) -> RevisionSignature? {
        if isText {
            guard let length = varint(), length <= UInt64(bytes.count - offset) else { return nil }
            defer { offset += Int(length) }
            let text = bytes[offset..<(offset + Int(length))]
            guard let string = String(validating: text, as: UTF8.self) else { return nil }
            guard let signature = RevisionSignature(string), signature.text != nil else { return nil }
            return signature
        }
        guard bytes.count - offset >= 16 else { return nil }
        defer { offset += 16 }
        return RevisionSignature(
            high: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)),
            low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset + 8, as: UInt64.self)))
    }
}

/// The flags byte of a node in a packed tree.
struct PackedFlags: OptionSet {
    let rawValue: UInt8

    static let isDeleted = PackedFlags(rawValue: 1)
    static let isSuperseded = PackedFlags(rawValue: 2)
    static let isShared = PackedFlags(rawValue: 4)
    static let hasBodyToken = PackedFlags(rawValue: 8)
    static let isText = PackedFlags(rawValue: 16)
    static let hasParent = PackedFlags(rawValue: 32)
    static let followsPrevious = PackedFlags(rawValue: 64)
    static let hasMarks = PackedFlags(rawValue: 128)

    init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Flags in a valid combination, or `nil`.
    init?(valid rawValue: UInt8) {
        self.init(rawValue: rawValue)
        guard !contains(.followsPrevious) || contains(.hasParent) else { return nil }
    }

    init(_ node: RevisionNode, at index: Int) {
        var flags: PackedFlags = []
        if node.isDeleted { flags.insert(.isDeleted) }
        if node.isSuperseded { flags.insert(.isSuperseded) }
        if node.isShared { flags.insert(.isShared) }
        if node.bodyToken != 0 { flags.insert(.hasBodyToken) }
        if !node.marks.isEmpty { flags.insert(.hasMarks) }
        if node.revision.signature.text != nil { flags.insert(.isText) }
        if let parent = node.parentIndex {
            flags.insert(.hasParent)
            if parent == index - 1 { flags.insert(.followsPrevious) }
        }
        self = flags
    }
}

// MARK: - PackedWriter

/// Appends the parts of a packed tree.
struct PackedWriter {
    private(set) var bytes: [UInt8] = []

    init(capacity: Int) { bytes.reserveCapacity(capacity) }

    mutating func append(_ byte: UInt8) { bytes.append(byte) }

    mutating func append(varint value: UInt64) { VariableNumber.append(value, to: &bytes) }

    mutating func append(_ signature: RevisionSignature) {
        if let text = signature.text {
            append(varint: UInt64(text.count))
            bytes.append(contentsOf: text)
        } else {
            withUnsafeBytes(of: (signature.high.bigEndian, signature.low.bigEndian)) { bytes.append(contentsOf: $0) }
        }
    }
}
