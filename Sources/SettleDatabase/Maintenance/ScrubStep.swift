package import SettleCore

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
