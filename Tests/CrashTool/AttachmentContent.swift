/// Bytes that the writer and the checker both compute, so that the checker knows a content without receiving it.
struct AttachmentContent {
    let seed: UInt64
    let length: Int

    var bytes: [UInt8] {
        var random = SeededGenerator(seed: seed)
        return [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            while count < length {
                var word = random.next()
                for _ in 0..<min(8, length - count) {
                    buffer[count] = UInt8(truncatingIfNeeded: word)
                    word >>= 8
                    count += 1
                }
            }
        }
    }
}
