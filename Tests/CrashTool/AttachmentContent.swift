import SettleTesting

/// Bytes that the writer and the checker both compute, so that the checker knows a content without receiving it.
struct AttachmentContent {
    let seed: UInt64
    let length: Int

    var bytes: [UInt8] {
        var random = SeededRandom(seed: seed)
        return random.bytes(length)
    }
}
