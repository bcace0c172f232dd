internal import SettleDatabase
internal import SettlePlatform

/// Sends pieces of text and contents of attachments, one after the other, in bounded memory.
final class SegmentStream: ResponseStream {
    /// A segment of the answer.
    enum Segment: Sendable {
        case bytes([UInt8])
        /// An attachment's content: as it is stored, or expanded; whole, or a part of what is stored.
        case content(DocumentAttachment, encoded: Bool, range: Range<Int64>?)
    }

    private struct State {
        var rest: ArraySlice<Segment>
        var reader: AttachmentReader?
    }

    private let database: Database
    private let state: Guarded<State>

    init(_ database: Database, _ segments: [Segment]) {
        self.database = database
        state = Guarded(State(rest: ArraySlice(segments)))
    }

    func next() throws -> ResponseStep {
        try state.withLock { state in
            while true {
                if let piece = try state.reader?.read() { return .piece(piece) }
                state.reader = nil
                switch state.rest.popFirst() {
                case nil: return .end
                case .bytes(let bytes)?: if !bytes.isEmpty { return .piece(bytes) }
                case .content(let attachment, let encoded, let range)?:
                    state.reader = try database.attachmentReader(for: attachment, encoded: encoded, range: range)
                }
            }
        }
    }

    /// The length of all segments in bytes; `nil` if a content was stored compressed and its expanded length is unknown.
    static func length(_ segments: [Segment]) -> Int64? {
        var sum: Int64 = 0
        for segment in segments {
            switch segment {
            case .bytes(let bytes): sum += Int64(bytes.count)
            case .content(_, _, let range?): sum += Int64(range.count)
            case .content(let attachment, true, nil): sum += attachment.encodedLength
            case .content(let attachment, false, nil):
                if attachment.encoding == .gzip, attachment.length == attachment.encodedLength { return nil }
                sum += attachment.length
            }
        }
        return sum
    }
}
