package import SettleCore
internal import SettlePlatform

/// The result of one step of a scrub.
package struct ScrubStep: Sendable {
    /// Where the next step begins; `nil` after the last.
    package let next: ScrubPlace?
    /// The numbers of what was read, and the problems that were found.
    package let report: VerificationReport
}

/// The position of a scrub, which reads the documents first and then the contents of attachments.
package enum ScrubPlace: Sendable, Equatable {
    case documents(after: DocumentID?)
    case attachments(after: BlobDigest?)
}

/// Whether a database is to be scrubbed.
package enum ScrubTurn: Sendable, Equatable {
    /// Now, from that place on.
    case now(ScrubPlace)
    /// Not before these milliseconds have passed.
    case later(Int64)
}

extension ScrubPlace {
    /// The place as a database stores it: digits and letters only.
    var text: String {
        switch self {
        case .documents(let last): "d" + Hexadecimal.encode((last?.string ?? "").utf8)
        case .attachments(let last): "a" + (last?.description ?? "")
        }
    }

    /// A place that was stored; `nil` for other text.
    init?(text: Substring) {
        let last = text.dropFirst()
        switch text.first {
        case "d"?:
            guard let bytes = Hexadecimal.decode(last) else { return nil }
            let id = DocumentID(unchecked: String(decoding: bytes, as: UTF8.self))
            self = .documents(after: bytes.isEmpty ? nil : id)
        case "a"?:
            let digest = BlobDigest(hexadecimal: String(last))
            guard last.isEmpty || digest != nil else { return nil }
            self = .attachments(after: digest)
        default: return nil
        }
    }
}
