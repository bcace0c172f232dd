/// The entries of a document's clocks to be written into its body, sorted by path.
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

    /// Adds all entries of a member; false if a path needs escapes, because these sort differently from the characters.
    mutating func add(_ member: ClockedMember, named name: String) -> Bool {
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
