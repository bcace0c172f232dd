internal import Foundation

/// Random numbers that are reproducible from a seed, on every machine.
public struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator; equal seeds give equal numbers.
    public init(seed: UInt64) { state = seed }

    /// The next number (SplitMix64).
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ state >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    /// A number from 0 up to, but not including, a bound.
    public mutating func below(_ bound: Int) -> Int { bound < 2 ? 0 : Int(next() % UInt64(bound)) }

    /// Returns `true` once in `bound` times on average.
    public mutating func oneIn(_ bound: Int) -> Bool { below(bound) == 0 }

    /// A random element; `nil` for an empty array.
    public mutating func pick<Element>(_ elements: [Element]) -> Element? {
        elements.isEmpty ? nil : elements[below(elements.count)]
    }

    /// Random bytes below a bound from 1 to 256. Without a bound it is fast even in an unoptimized build: each random
    /// number gives eight bytes.
    package mutating func bytes(_ count: Int, below bound: Int = 256) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count + 7) { buffer, filled in
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            var position = 0
            while position < count {
                if bound == 256 {
                    // The last eight may reach past the count.
                    bytes.storeBytes(of: next().littleEndian, toByteOffset: position, as: UInt64.self)
                    position += 8
                } else {
                    bytes[position] = UInt8(below(bound))
                    position += 1
                }
            }
            filled = count
        }
    }
}

extension SeededRandom {
    /// The seed of this run: from the environment, or a new one. `SETTLE_SEED=… swift test` repeats a failure.
    package static let seed =
        ProcessInfo.processInfo.environment["SETTLE_SEED"].flatMap { UInt64($0) } ?? .random(in: 0 ... .max)

    /// Bytes that can be compressed, since a few random ones repeat.
    package mutating func compressibleBytes(_ count: Int) -> [UInt8] {
        var content = bytes(min(count, 50))
        while content.count < count { content += content.prefix(count - content.count) }
        return content
    }
}
