internal import SettlePlatform

/// Parses a packed tree; every method returns `nil` where the bytes are not a valid tree.
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
