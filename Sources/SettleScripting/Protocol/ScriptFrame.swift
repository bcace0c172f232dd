/// A message between the server and a worker.
///
///     length  kind  context  count   length item 0      length item 1 …
///     u32     u8    u32      u32     u32    bytes  00    u32    bytes  00
///
/// Numbers are little-endian; the first is the number of bytes after it. The zero after an item is not part of its
/// length; JavaScriptCore needs it as a terminator.
struct ScriptFrame {
    /// The bytes of a frame, length first.
    private(set) var bytes: [UInt8]
    private var count: UInt32 = 0

    /// The number of bytes before the items.
    private static let head = 13
    /// The largest frame, in bytes.
    static let largest = 256 << 20

    /// Begins a frame.
    init(kind: UInt8, context: UInt32 = 0, capacity: Int = 0) {
        bytes = []
        bytes.reserveCapacity(Self.head + capacity)
        bytes += [0, 0, 0, 0, kind]
        append(context)
        append(0)
    }

    /// Whether there are no items yet.
    var isEmpty: Bool { count == 0 }

    /// Adds an item.
    mutating func add(_ item: some Collection<UInt8>) {
        append(UInt32(truncatingIfNeeded: item.count))
        bytes += item
        bytes.append(0)
        count += 1
    }

    /// Fills in the numbers of the header, and returns the frame.
    mutating func finish() -> [UInt8] {
        set(UInt32(truncatingIfNeeded: bytes.count - 4), at: 0)
        set(count, at: 9)
        return bytes
    }

    private mutating func append(_ number: UInt32) {
        withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
    }

    private mutating func set(_ number: UInt32, at position: Int) {
        withUnsafeBytes(of: number.littleEndian) { raw in
            for (offset, byte) in raw.enumerated() { bytes[position + offset] = byte }
        }
    }

    /// Parses a frame without its length: the kind, the context, and the ranges of its items.
    ///
    /// - Returns: `nil` for bytes that are not a frame.
    static func parse(_ bytes: [UInt8]) -> (kind: UInt8, context: UInt32, items: [Range<Int>])? {
        guard bytes.count >= head - 4 else { return nil }
        let count = Int(number(bytes, at: 5))
        var items: [Range<Int>] = []
        items.reserveCapacity(min(count, bytes.count / 5))
        var position = head - 4
        for _ in 0..<count {
            guard position + 4 <= bytes.count else { return nil }
            let length = Int(number(bytes, at: position))
            position += 4
            guard position + length < bytes.count, bytes[position + length] == 0 else { return nil }
            items.append(position..<position + length)
            position += length + 1
        }
        return position == bytes.count ? (bytes[0], number(bytes, at: 1), items) : nil
    }

    /// A number in a frame.
    static func number(_ bytes: [UInt8], at position: Int) -> UInt32 {
        UInt32(bytes[position]) | UInt32(bytes[position + 1]) << 8 | UInt32(bytes[position + 2]) << 16
            | UInt32(bytes[position + 3]) << 24
    }
}
