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
