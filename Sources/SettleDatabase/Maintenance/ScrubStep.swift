package import SettleCore

/// What a step of a scrub has read.
package struct ScrubStep: Sendable {
    /// Where the next step begins; `nil` after the last.
    package let next: ScrubPlace?
    /// What was read, and what is wrong with it.
    package let report: VerificationReport
}

/// Where a scrub is: it reads the documents and then the contents of attachments.
package enum ScrubPlace: Sendable, Equatable {
    case documents(after: DocumentID?)
    case attachments(after: BlobDigest?)
}
