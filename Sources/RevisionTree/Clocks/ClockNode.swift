/// The entries of a document's `$clocks`, as a tree of names.
struct ClockNode {
    /// What an entry says.
    enum Entry: Hashable {
        /// When the member was changed, and the digest of what it was changed to.
        case known(AttributeClock, ValueDigest)
        /// Somebody who knows no clocks removed it.
        case unknown
    }

    var entry: Entry?
    var inside: [ClockedMembers.Name: ClockNode] = [:]

    /// Reads a document's entries. What is none is passed over, for anybody can write anything into a document.
    init(_ entries: JSONObject) {
        for member in entries {
            guard let text = member.value.string, let entry = Entry(text),
                let path = Self.names(in: member.name)
            else { continue }
            insert(entry, at: path[...])
        }
    }

    private init() {}

    private mutating func insert(_ entry: Entry, at path: ArraySlice<String>) {
        guard let name = path.first else {
            self.entry = entry
            return
        }
        inside[ClockedMembers.Name(text: name), default: ClockNode()].insert(entry, at: path.dropFirst())
    }

    /// The names a JSON Pointer is made of; `nil` for what is none, or leads too deep.
    private static func names(in pointer: String) -> [String]? {
        if pointer.isEmpty { return [] }
        guard MergePath.isPointer(pointer) else { return nil }
        let steps = pointer.utf8.split(
            separator: UInt8(ascii: "/"), maxSplits: ClockedDocument.depth + 1, omittingEmptySubsequences: false
        ).dropFirst()
        guard steps.count <= ClockedDocument.depth else { return nil }
        return steps.map(unescaped)
    }

    private static func unescaped(_ step: Substring.UTF8View) -> String {
        guard step.contains(UInt8(ascii: "~")) else { return String(Substring(step)) }
        var bytes: [UInt8] = []
        var isEscape = false
        for byte in step {
            if isEscape {
                bytes.append(byte == UInt8(ascii: "0") ? UInt8(ascii: "~") : UInt8(ascii: "/"))
                isEscape = false
            } else if byte == UInt8(ascii: "~") {
                isEscape = true
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension ClockNode.Entry {
    /// Reads an entry: a clock, a blank, a digest; or a question mark.
    init?(_ text: String) {
        if text == "?" {
            self = .unknown
            return
        }
        let parts = text.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard parts.count == 2, let clock = String(parts[0]).flatMap({ AttributeClock($0) }),
            let digest = ValueDigest(parts[1])
        else { return nil }
        self = .known(clock, digest)
    }

    /// The entry as it stands in a document.
    var text: String {
        switch self {
        case .known(let clock, let digest): "\(clock) \(digest.text)"
        case .unknown: "?"
        }
    }
}
