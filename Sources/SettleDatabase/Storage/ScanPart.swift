internal import SettleCore
internal import SettlePlatform

/// The part of the documents that a scan is about: those of a kind in a range of ids, or those of a range of changes.
package enum ScanPart {
    case documents(DocumentRange, DocumentKind)
    case changes(SequenceRange)
}

extension DocumentScan {
    /// The part that the scan is about.
    package var part: ScanPart {
        switch self {
        case .documents(let range): .documents(range, .any)
        case .live(let range): .documents(range, .live)
        case .deleted(let range): .documents(range, .flagged(.deleted))
        case .conflicted(let kind, let range): .documents(range, .flagged(RecordFlags(kind)))
        case .changes(let range): .changes(range)
        }
    }
}

/// Which documents are counted or read.
package enum DocumentKind {
    case any
    /// Those that have a live leaf.
    case live
    case flagged(RecordFlags)
}

extension DocumentRange {
    /// A value behind all ids, for UTF-8 never has such a byte.
    package static let end: [UInt8] = [0xFF]

    /// The bytes from which ids are in the range.
    package var low: [UInt8] {
        let past = after.map { Array("\($0)\0".utf8) } ?? []
        let first = from.map { Array($0.string.utf8) } ?? []
        return first.precedes(past) ? past : first
    }

    /// The bytes from which ids are past the range.
    package var high: [UInt8] {
        let past = through.map { Array("\($0)\0".utf8) } ?? Self.end
        let end = before.map { Array($0.string.utf8) } ?? Self.end
        return past.precedes(end) ? past : end
    }
}

extension [UInt8] {
    /// Whether these bytes come before others, in the order of unsigned bytes.
    package func precedes(_ other: [UInt8]) -> Bool { withUnsafeBytes { $0.precedes(other) } }
}

extension UnsafeRawBufferPointer {
    func precedes(_ other: [UInt8]) -> Bool {
        guard let baseAddress else { return !other.isEmpty }
        let order = memcmp(baseAddress, other, Swift.min(count, other.count))
        return order == 0 ? count < other.count : order < 0
    }
}
