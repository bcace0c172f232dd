import SettleMobile

/// What a client of Couchbase Mobile sends: bytes of a WebSocket, frames of BLIP, and names of versions.
///
///     first byte even     bytes as they come from the socket
///     first byte odd      pieces of a number, flags, a length and a body; each becomes a frame in a message of a WebSocket
enum MobileTarget {
    static func run(_ bytes: [UInt8]) throws {
        guard let first = bytes.first else { return }
        try versions(String(decoding: bytes.dropFirst(), as: UTF8.self))
        var limits = BLIPLimits()
        (limits.largestMessage, limits.maximumIncomingBytes, limits.maximumOpenMessages, limits.maximumUnanswered) = (
            4096, 8192, 8, 8
        )
        let connection = BLIPConnection(isServer: true, limits: limits, handler: { _ in })
        let input = first & 1 == 0 ? Array(bytes.dropFirst()) : messages(bytes.dropFirst())
        do {
            for start in stride(from: 0, to: input.count, by: 7) {
                try input[start..<min(start + 7, input.count)].withUnsafeBytes { try connection.receive($0) }
                try require(connection.incomingBytes <= 3 * limits.maximumIncomingBytes, "what has come is bounded")
                try require(connection.outgoingBytes <= 64 * 1024, "what is to be sent is bounded")
            }
        } catch is WebSocketError {} catch is BLIPError {}
        while try connection.nextOutput() != nil {}
        connection.end()
    }

    private static func messages(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var (rest, output) = (bytes, [UInt8]())
        while rest.count >= 3 {
            let (number, flags, length) = (rest.removeFirst(), rest.removeFirst(), Int(rest.removeFirst()))
            let frame = [number & 7, flags] + rest.prefix(length)
            rest = rest.dropFirst(length)
            // A mask of zeros leaves the bytes as they are.
            let size =
                frame.count < 126
                ? [0x80 | UInt8(frame.count)] : [0xFE, UInt8(frame.count >> 8), UInt8(frame.count & 255)]
            output += [0x82] + size + [0, 0, 0, 0] + frame
        }
        return output
    }

    private static func versions(_ text: String) throws {
        let parts = text.split(separator: "|", maxSplits: 1).map(String.init)
        guard let vector = VersionVector(parts.first ?? "", history: parts.count > 1 ? parts[1] : "") else { return }
        let again = VersionVector(vector.revision, history: vector.history(ids: .max))
        try require(again == vector, "a vector that is written reads to itself")
        try require(vector.covers(vector), "a vector has seen itself")
    }
}
