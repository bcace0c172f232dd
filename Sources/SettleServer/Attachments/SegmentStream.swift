internal import SettleDatabase

/// Sends pieces of text and contents of attachments, one after the other, in bounded memory.
final class SegmentStream: ResponseStream {
    /// A part of what is sent.
    enum Segment: Sendable {
        case bytes([UInt8])
        /// An attachment's content: as it is stored, or expanded; whole, or a part of what is stored.
        case content(Attachment, encoded: Bool, range: Range<Int64>?)
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

    /// How many bytes all segments have.
    static func length(_ segments: [Segment]) -> Int64 {
        segments.reduce(0) { sum, segment in
            switch segment {
            case .bytes(let bytes): sum + Int64(bytes.count)
            case .content(let attachment, let encoded, let range):
                sum + (range.map { Int64($0.count) } ?? (encoded ? attachment.encodedLength : attachment.length))
            }
        }
    }
}
