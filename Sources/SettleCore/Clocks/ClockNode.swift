/// The entries of a document's `$clocks`, as a tree of names.
struct ClockNode {
    /// The content of an entry.
    enum Entry: Hashable {
        /// The clock of the member's last change, and the digest of its new value.
        case known(AttributeClock, ValueDigest)
        /// A foreign edit has changed or removed it. The clock is the last one before that, if it had one.
        case unknown(after: AttributeClock?)

        /// The clock of the member, which later changes must exceed.
        var moment: AttributeClock? {
            switch self {
            case .known(let clock, _): clock
            case .unknown(let clock): clock
            }
        }
    }

    var entry: Entry?
    var inside: [ExactText: ClockNode] = [:]

    /// Reads a document's entries. Malformed ones are ignored, because any software can write any member.
    init(_ entries: JSONObject) {
        for member in entries {
            guard let text = member.value.string, let entry = Entry(text) else { continue }
            if let name = Self.onlyName(in: member.name) {
                inside[ExactText(name), default: ClockNode()].entry = entry
            } else if let path = Self.names(in: member.name) {
                insert(entry, at: path[...])
            }
        }
    }

    /// The name in a JSON Pointer that has one step and no escapes, the usual case.
    private static func onlyName(in pointer: String) -> String? {
        let bytes = pointer.utf8
        guard bytes.first == UInt8(ascii: "/"),
            !bytes.dropFirst().contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "~") })
        else { return nil }
        return String(pointer.unicodeScalars.dropFirst())
    }

    private init() {}

    /// The latest clock of the entry and of everything inside.
    var newest: AttributeClock? { inside.values.reduce(entry?.moment) { ClockedAttribute.later($0, $1.newest) } }

    private mutating func insert(_ entry: Entry, at path: ArraySlice<String>) {
        guard let name = path.first else {
            self.entry = entry
            return
        }
        inside[ExactText(name), default: ClockNode()].insert(entry, at: path.dropFirst())
    }

    /// The names of a JSON Pointer; `nil` if it is malformed or too deep.
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
    /// Parses an entry: a clock, a blank, and a digest or a question mark; or a question mark alone.
    init?(_ text: String) { self.init(bytes: text.utf8) }

    /// Parses the bytes of an entry.
    init?(bytes: some BidirectionalCollection<UInt8>) {
        if bytes.last == UInt8(ascii: "?") {
            let clock = bytes.dropLast(2)
            guard bytes.count > 1 else {
                self = .unknown(after: nil)
                return
            }
            guard bytes[clock.endIndex] == UInt8(ascii: " "), let clock = AttributeClock(bytes: clock) else {
                return nil
            }
            self = .unknown(after: clock)
            return
        }
        guard bytes.count > 9, case let blank = bytes.index(bytes.endIndex, offsetBy: -9),
            bytes[blank] == UInt8(ascii: " "), let digest = ValueDigest(bytes[bytes.index(after: blank)...]),
            let clock = AttributeClock(bytes: bytes[..<blank])
        else { return nil }
        self = .known(clock, digest)
    }

    /// The entry's text in a document.
    var text: String {
        switch self {
        case .known(let clock, let digest): "\(clock) \(digest.text)"
        case .unknown(nil): "?"
        case .unknown(let clock?): "\(clock) ?"
        }
    }
}

// MARK: - ClockEntries

/// The entries of a document's clocks, to be written into its body, sorted by path.
struct ClockEntries {
    /// `"/path":"entry"`, one after the other.
    private var bytes: [UInt8] = []
    /// The range of each entry, and of its path.
    private var places: [(whole: Range<Int>, path: Range<Int>)] = []

    init() {
        bytes.reserveCapacity(1024)
        places.reserveCapacity(16)
    }

    /// Their approximate size in bytes.
    var count: Int { bytes.count + places.count }

    /// Adds a copy of an entry.
    mutating func copy(_ path: Slice<UnsafeBufferPointer<UInt8>>, _ text: Slice<UnsafeBufferPointer<UInt8>>) {
        add { bytes in
            bytes.append(contentsOf: path)
        } text: {
            $0.append(contentsOf: text)
        }
    }

    /// Adds an entry of a member whose name, or path after the first slash, needs no escapes.
    mutating func add(_ name: some Sequence<UInt8>, _ clock: [UInt8], _ digest: ValueDigest) {
        add { bytes in
            bytes.append(UInt8(ascii: "/"))
            bytes.append(contentsOf: name)
        } text: {
            $0.append(contentsOf: clock)
            $0.append(UInt8(ascii: " "))
            digest.write(to: &$0)
        }
    }

    /// Adds all entries of a member. Returns false if a path needs escapes, because these sort differently from the
    /// characters.
    mutating func add(_ member: ClockedAttribute, named name: String) -> Bool {
        var entries: [(path: [UInt8], entry: ClockNode.Entry)] = []
        ClockedDocument.collect(member, at: MergePath.step(name), into: &entries)
        for (path, entry) in entries {
            guard path.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) else {
                return false
            }
            add { bytes in
                bytes += path
            } text: {
                $0.append(contentsOf: entry.text.utf8)
            }
        }
        return true
    }

    private mutating func add(path: (inout [UInt8]) -> Void, text: (inout [UInt8]) -> Void) {
        let start = bytes.count
        bytes.append(UInt8(ascii: "\""))
        path(&bytes)
        let end = bytes.count
        bytes.append(contentsOf: "\":\"".utf8)
        text(&bytes)
        bytes.append(UInt8(ascii: "\""))
        places.append((start..<bytes.count, start + 1..<end))
    }

    /// Writes them as the member `$clocks`.
    mutating func write(to body: inout [UInt8]) {
        bytes.withUnsafeBufferPointer { bytes in
            places.sort { left, right in
                bytes[left.path].lexicographicallyPrecedes(bytes[right.path])
            }
            body.append(contentsOf: "\"\(ClockedDocument.memberName)\":{".utf8)
            for (index, place) in places.enumerated() {
                if index > 0 { body.append(UInt8(ascii: ",")) }
                body.append(contentsOf: bytes[place.whole])
            }
            body.append(UInt8(ascii: "}"))
        }
    }
}
