/// Writes a document's body twice while it is scanned: as compact JSON and as an Erlang term.
///
///     text   {"_id":"x", "v" : [1,2] }
///     body   {"v":[1,2]}
///     term   104 1 108 ‹1› 104 2 109 ‹1› v 107 ‹2› 1 2 106
///
/// In the term, a list's length is written before its elements, so its bytes are reserved and filled in at the end.
/// A list that contains only bytes is then rewritten as a string of bytes, as Erlang does (the byte-list trap of
/// SEMANTICS 198). A reserved member is written like any other and removed at its end.
struct DocumentSink: JSONSink {
    /// The state of an open array or object.
    private struct Frame {
        var isObject = false
        /// The position of the term's length, which is filled in at the end.
        var lengthPosition = 0
        /// The index of the first fingerprint of this object's names.
        var firstName = 0
        var count = 0
        var holdsOnlyBytes = true
    }

    private struct PendingReserved {
        let name: String
        let bodyCount: Int
        let termCount: Int
        let members: Int
        var valueStart = -1
    }

    private let text: UnsafeBufferPointer<UInt8>
    private let base: UnsafePointer<UInt8>
    private let allowsReserved: Bool
    private let memory: UnsafeMutableRawPointer
    private var body: ByteWriter
    private var term: ByteWriter
    private var names: MemberNames
    /// The innermost container; meaningless while `depth` is 0.
    private var frame = Frame()
    private var outer: [Frame] = []
    private var depth = 0
    private var isReserved = false
    private var pending: PendingReserved?
    private var reserved: [DocumentReader.ReservedMember] = []

    init(text: UnsafeBufferPointer<UInt8>, allowsReserved: Bool) {
        self.text = text
        base = text.baseAddress ?? StaticString("").utf8Start
        self.allowsReserved = allowsReserved
        // One piece of memory for all three. The term comes last, because names are read past the end.
        let (bodySize, termSize) = (text.count + 16, text.count * ExternalTerm.expansion + 64)
        let nameCount = text.count / MemberNames.fewestBytes + 1
        let namesSize = nameCount * MemoryLayout<UInt64>.stride
        memory = .allocate(byteCount: namesSize + bodySize + termSize, alignment: MemoryLayout<UInt64>.alignment)
        names = MemberNames(memory.bindMemory(to: UInt64.self, capacity: nameCount), capacity: nameCount)
        let bytes = (memory + namesSize).bindMemory(to: UInt8.self, capacity: bodySize + termSize)
        body = ByteWriter(bytes, capacity: bodySize)
        term = ByteWriter(bytes + bodySize, capacity: termSize)
    }

    func deallocate() { memory.deallocate() }

    var hasDuplicates: Bool { names.hasDuplicates }

    var result: DocumentReader {
        DocumentReader(body: DocumentBody(utf8: body.bytes, term: term.bytes), reserved: reserved)
    }

    mutating func beginObject(at start: Int) throws(JSONError) {
        try beginValue(at: start)
        body.append(UInt8(ascii: "{"))
        term.append(ExternalTerm.smallTuple)
        term.append(1)
        open(isObject: true)
    }

    mutating func beginArray(at start: Int) throws(JSONError) {
        try beginValue(at: start)
        body.append(UInt8(ascii: "["))
        open(isObject: false)
    }

    mutating func endObject(at end: Int) {
        names.close(from: frame.firstName)
        endList()
        close(with: UInt8(ascii: "}"), end: end)
    }

    mutating func endArray(at end: Int) {
        if frame.count > 0, frame.holdsOnlyBytes, frame.count <= ExternalTerm.longestByteList {
            term.makeByteList(from: frame.lengthPosition &- 1, count: frame.count)
        } else {
            endList()
        }
        close(with: UInt8(ascii: "]"), end: end)
    }

    @inline(__always)
    mutating func key(_ token: JSONStringToken) throws(JSONError) {
        if depth == 1, token.end > token.start, base[token.start] == UInt8(ascii: "_") || token.hasEscapes {
            try beginReserved(token)
        }
        beginElement()
        term.append(ExternalTerm.smallTuple)
        term.append(2)
        let start = appendString(token)
        names.add(term.pointer(to: start), count: term.count &- start, in: frame.firstName)
        body.append(UInt8(ascii: ":"))
    }

    @inline(__always)
    mutating func string(_ token: JSONStringToken) throws(JSONError) {
        try beginValue(at: token.start &- 1)
        frame.holdsOnlyBytes = false
        appendString(token)
        endValue(at: token.end &+ 1)
    }

    @inline(__always)
    mutating func number(_ token: JSONNumberToken) throws(JSONError) {
        try beginValue(at: token.start)
        body.append(base + token.start, count: token.end &- token.start)
        if let value = token.smallInteger {
            if !(0...255 ~= value) { frame.holdsOnlyBytes = false }
            term.appendTerm(value)
        } else {
            frame.holdsOnlyBytes = false
            if token.isInteger {
                appendLarge(token)
            } else {
                term.append(ExternalTerm.float)
                term.append(bigEndian: JSONNumberConversion.doubleInCouchDB(token, in: text).bitPattern)
            }
        }
        endValue(at: token.end)
    }

    mutating func literal(_ literal: JSONLiteral, at start: Int) throws(JSONError) {
        try beginValue(at: start)
        frame.holdsOnlyBytes = false
        let word: StaticString =
            switch literal {
            case .null: "null"
            case .true: "true"
            case .false: "false"
            }
        body.append(word.utf8Start, count: word.utf8CodeUnitCount)
        term.appendAtom(word)
        endValue(at: start + word.utf8CodeUnitCount)
    }
}

extension DocumentSink {
    /// Writes the comma before an element, and counts it.
    @inline(__always)
    private mutating func beginElement() {
        if frame.count > 0 { body.append(UInt8(ascii: ",")) }
        frame.count &+= 1
    }

    @inline(__always)
    private mutating func beginValue(at start: Int) throws(JSONError) {
        if depth == 0 {
            if base[start] != UInt8(ascii: "{") {
                throw JSONError(.notAnObject, "a document must be a JSON object", at: start, in: text)
            }
        } else if !frame.isObject {
            beginElement()
        } else if isReserved, pending?.valueStart == -1 {
            pending?.valueStart = start
        }
    }

    @inline(__always)
    private mutating func endValue(at end: Int) {
        if isReserved, depth == 1 { endReserved(at: end) }
    }

    private mutating func open(isObject: Bool) {
        term.append(ExternalTerm.list)
        if depth > 0 {
            frame.holdsOnlyBytes = false
            outer.append(frame)
        }
        depth &+= 1
        frame = Frame(isObject: isObject, lengthPosition: term.count, firstName: names.count)
        term.append(bigEndian: UInt32(0))
    }

    /// Ends a list of the term, whose length is now known.
    @inline(__always)
    private mutating func endList() {
        if frame.count == 0 {
            term.truncate(to: frame.lengthPosition &- 1)
        } else {
            term.put(bigEndian: UInt32(truncatingIfNeeded: frame.count), at: frame.lengthPosition)
        }
        term.append(ExternalTerm.emptyList)
    }

    private mutating func close(with bracket: UInt8, end: Int) {
        body.append(bracket)
        depth &-= 1
        if let around = outer.popLast() { frame = around }
        endValue(at: end)
    }

    /// Writes a string to both outputs; returns the position of its bytes in the term.
    @discardableResult
    @inline(__always)
    private mutating func appendString(_ token: JSONStringToken) -> Int {
        term.append(ExternalTerm.binary)
        let length = token.end &- token.start
        term.append(bigEndian: UInt32(truncatingIfNeeded: length))
        let start = term.count
        if token.hasEscapes {
            appendEscaped(token, from: start)
        } else {
            term.append(base + token.start, count: length)
            body.append(base + (token.start &- 1), count: length &+ 2)
        }
        return start
    }

    private mutating func appendEscaped(_ token: JSONStringToken, from start: Int) {
        JSONEscape.decode(UnsafeBufferPointer(rebasing: text[token.start..<token.end])) { term.append($0) }
        term.put(bigEndian: UInt32(truncatingIfNeeded: term.count - start), at: start - 4)
        body.append(UInt8(ascii: "\""))
        for byte in term.written(from: start) { JSONEscape.encode(byte) { body.append($0) } }
        body.append(UInt8(ascii: "\""))
    }

    private mutating func appendLarge(_ token: JSONNumberToken) {
        let digits = text[(token.start + (token.isNegative ? 1 : 0))..<token.end]
        let value = BigInteger(digits: digits)
        if let small = value.small {
            term.appendTerm(token.isNegative ? -small : small)
        } else {
            term.appendBignum(value, isNegative: token.isNegative)
        }
    }

    private mutating func beginReserved(_ token: JSONStringToken) throws(JSONError) {
        let name = token.string(in: text)
        guard name.utf8.first == UInt8(ascii: "_"), !DocumentReader.storedNames.contains(name) else { return }
        guard allowsReserved else {
            throw JSONError(
                .reservedMember, "a body can't have the member \"\(name)\"; names with an underscore are reserved",
                at: token.start, in: text)
        }
        pending = PendingReserved(
            name: name, bodyCount: body.count, termCount: term.count, members: frame.count)
        isReserved = true
    }

    private mutating func endReserved(at end: Int) {
        guard let member = pending else { return }
        pending = nil
        isReserved = false
        body.truncate(to: member.bodyCount)
        term.truncate(to: member.termCount)
        frame.count = member.members
        reserved.append(
            DocumentReader.ReservedMember(
                name: member.name, value: Array(text[member.valueStart..<end]), offset: member.valueStart))
    }
}

extension ByteWriter {
    /// Turns a list of small integers, each two bytes, into a string of bytes.
    fileprivate mutating func makeByteList(from start: Int, count length: Int) {
        self[start] = ExternalTerm.byteList
        self[start + 1] = UInt8(truncatingIfNeeded: length >> 8)
        self[start + 2] = UInt8(truncatingIfNeeded: length)
        for index in 0..<length { self[start + 3 + index] = self[start + 5 + index * 2 + 1] }
        truncate(to: start + 3 + length)
    }
}

// MARK: - MemberNames

/// Detects objects that have two members with the same name.
///
/// Each name of the open objects is kept as a 64-bit fingerprint. In small objects a new one is compared with the
/// earlier ones; those of a larger object are sorted when it closes. Two names with the same fingerprint only cause
/// a second, exact pass over the document.
struct MemberNames {
    private let fingerprints: UnsafeMutablePointer<UInt64>
    /// The number of recorded names.
    private(set) var count = 0
    private(set) var hasDuplicates = false
    private static let largest = 24
    /// The minimum number of text bytes per name that is recorded at one time: `{"":` repeated. Names of sibling
    /// members take one more.
    static let fewestBytes = 4

    private let capacity: Int

    /// Records names in memory for so many of them, which the caller frees.
    init(_ memory: UnsafeMutablePointer<UInt64>, capacity: Int) { (fingerprints, self.capacity) = (memory, capacity) }

    /// Records a name of the object whose names begin at a position; eight bytes after the name must be readable.
    @inline(__always)
    mutating func add(_ name: UnsafePointer<UInt8>, count length: Int, in first: Int) {
        let fingerprint = Self.fingerprint(of: UnsafeRawPointer(name), count: length)
        if count &- first < Self.largest {
            var index = first
            while index < count {
                if fingerprints[index] == fingerprint { hasDuplicates = true }
                index &+= 1
            }
        }
        assert(count < capacity)
        fingerprints[count] = fingerprint
        count &+= 1
    }

    /// Removes the names of an object that ends.
    @inline(__always)
    mutating func close(from first: Int) {
        if count &- first > Self.largest { compareMany(from: first) }
        count = first
    }

    private mutating func compareMany(from first: Int) {
        let sorted = UnsafeBufferPointer(start: fingerprints + first, count: count - first).sorted()
        if zip(sorted, sorted.dropFirst()).contains(where: ==) { hasDuplicates = true }
    }

    /// A hash of the length and of all bytes, eight at a time; the last eight are read past the end and masked.
    @inline(__always)
    private static func fingerprint(of name: UnsafeRawPointer, count: Int) -> UInt64 {
        var hash = UInt64(truncatingIfNeeded: count) &* 0x9E37_79B9_7F4A_7C15
        var offset = 0
        while offset &+ 8 <= count {
            hash = mixed(hash ^ name.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset &+= 8
        }
        let rest = UInt64(littleEndian: name.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        let mask: UInt64 = (1 << UInt64(truncatingIfNeeded: (count &- offset) &* 8)) &- 1
        return mixed(hash ^ (rest & mask))
    }

    @inline(__always)
    static func mixed(_ value: UInt64) -> UInt64 {
        let product = value.multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        return product.high ^ product.low &+ value
    }
}
