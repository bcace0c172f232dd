internal import SettlePlatform

/// Makes the frames of one direction, in the order in which they go out.
///
///     varint number · varint flags · body, maybe compressed · CRC-32 of all bodies so far
///
/// Used by one thread at a time.
final class BLIPEncoder {
    private let codec = BLIPCodec(isWriter: true)

    /// Makes a frame.
    ///
    /// - Parameter piece: The next piece of a message.
    /// - Returns: The frame, and how many of its bytes are behind its head.
    /// - Throws: ``BLIPError`` if zlib fails; the connection is of no use then.
    func frame(_ piece: BLIPQueue.Piece) throws(BLIPError) -> (frame: [UInt8], bytes: Int) {
        codec.add(piece.bytes)
        var frame: [UInt8] = []
        frame.reserveCapacity(piece.bytes.count + 24)
        VariableNumber.append(piece.number, to: &frame)
        frame.append(piece.flags.rawValue)
        let head = frame.count
        frame += piece.flags.contains(.compressed) ? try codec.deflate(piece.bytes) : piece.bytes
        let sum = codec.checksum
        for shift: UInt32 in [24, 16, 8, 0] { frame.append(UInt8(truncatingIfNeeded: sum >> shift)) }
        return (frame, frame.count - head)
    }
}
