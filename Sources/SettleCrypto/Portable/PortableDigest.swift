/// A hash function over blocks of 64 bytes, without the frame that MD5, SHA-1 and SHA-256 have in common.
package protocol BlockFunction {
    /// The number of bytes of a digest.
    static var length: Int { get }
    /// Whether numbers stand with their highest byte first, in blocks and in the digest.
    static var isBigEndian: Bool { get }
    /// The state, which is the digest after the last block.
    var words: [UInt32] { get }

    init()

    /// Takes a block of 64 bytes.
    mutating func absorb(_ block: UnsafeRawBufferPointer)
}

/// A digest in Swift alone, for systems without a library of their own, and as a second opinion in tests.
package struct PortableDigest<Function: BlockFunction>: DigestState {
    package static var length: Int { Function.length }
    private var function = Function()
    /// The bytes that fill no block yet.
    private var tail = [UInt8](repeating: 0, count: 64)
    private var filled = 0
    private var count: UInt64 = 0

    package init() {}

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        count &+= UInt64(bytes.count)
        var start = 0
        if filled > 0 {
            start = min(64 - filled, bytes.count)
            keep(bytes[..<start])
            guard filled == 64 else { return }
            absorbTail()
        }
        while bytes.count - start >= 64 {
            function.absorb(UnsafeRawBufferPointer(rebasing: bytes[start..<start + 64]))
            start += 64
        }
        keep(bytes[start...])
    }

    package mutating func finish(into digest: UnsafeMutablePointer<UInt8>) {
        let bits = count &* 8
        var padding: [UInt8] = [0x80]
        while (filled + padding.count) % 64 != 56 { padding.append(0) }
        withUnsafeBytes(of: Function.isBigEndian ? bits.bigEndian : bits.littleEndian) { padding += $0 }
        padding.withUnsafeBytes { update($0) }
        for (place, word) in function.words.enumerated() {
            withUnsafeBytes(of: Function.isBigEndian ? word.bigEndian : word.littleEndian) { bytes in
                for (offset, byte) in bytes.enumerated() { digest[4 * place + offset] = byte }
            }
        }
    }

    private mutating func keep(_ bytes: Slice<UnsafeRawBufferPointer>) {
        for byte in bytes {
            tail[filled] = byte
            filled += 1
        }
    }

    private mutating func absorbTail() {
        let block = tail
        block.withUnsafeBytes { function.absorb($0) }
        filled = 0
    }
}

extension BlockFunction {
    /// A number of a block.
    @inline(__always)
    func word(_ place: Int, of block: UnsafeRawBufferPointer) -> UInt32 {
        let word = block.loadUnaligned(fromByteOffset: 4 * place, as: UInt32.self)
        return Self.isBigEndian ? UInt32(bigEndian: word) : UInt32(littleEndian: word)
    }
}

extension UInt32 {
    /// The bits, moved in a circle.
    @inline(__always)
    func rotated(left count: UInt32) -> UInt32 { self &<< count | self &>> (32 &- count) }
}
