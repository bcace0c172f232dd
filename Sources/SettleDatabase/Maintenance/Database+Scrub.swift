package import SettleCore
internal import SettlePlatform

extension Database {
    private static let scrubSetting = "scrubbed"

    /// Reads a page of the stored data and compares it with its checksums and digests. ``verify(progress:)`` does so with all data.
    ///
    /// - Parameters:
    ///   - place: Where to begin.
    ///   - limit: The maximum number of documents; contents of attachments are read one by one.
    /// - Returns: The problems that were found, and where to continue.
    /// - Throws: ``DatabaseError`` when the system can't read, or with code `closed` or `corrupt`.
    package func scrub(from place: ScrubPlace, limit: Int) throws -> ScrubStep {
        switch place {
        case .documents(let last): try engine.snapshot { try scrubDocuments(after: last, limit, $0) }
        case .attachments(let last): try scrubAttachment(after: last)
        }
    }

    private func scrubDocuments(
        after last: DocumentID?, _ limit: Int, _ reader: any StorageReader
    ) throws -> ScrubStep {
        var range = DocumentRange()
        range.after = last
        var verifier = DocumentVerifier(reader: reader, report: VerificationReport())
        let page = try reader.records(in: range, limit: limit, withContent: true)
        for record in page { try verifier.check(record) }
        let next = page.last.map { ScrubPlace.documents(after: $0.id) } ?? .attachments(after: nil)
        return ScrubStep(next: next, report: verifier.report)
    }

    /// Reads a content outside of a snapshot, since a large one takes long.
    private func scrubAttachment(after last: BlobDigest?) throws -> ScrubStep {
        guard let digest = try engine.read({ try $0.blobs(after: last, limit: 1) }).first?.digest else {
            return ScrubStep(next: nil, report: VerificationReport())
        }
        var report = VerificationReport()
        verifyBlob(digest, &report) { digest in try engine.read { try $0.blob(digest) } }
        // A content that was collected meanwhile is not damaged.
        if !report.isSound, try engine.read({ try $0.blob(digest) }) == nil { report = VerificationReport() }
        return ScrubStep(next: .attachments(after: digest), report: report)
    }

    /// Claims the next scrub. Nodes that share the database take turns.
    ///
    /// A scrub whose node has stopped can be claimed after the lease, and then begins at the place that was noted last.
    ///
    /// - Parameters:
    ///   - time: The current time in milliseconds.
    ///   - interval: The time between the end of a scrub and the next one in milliseconds.
    ///   - lease: The time in milliseconds after which a scrub that was not noted again counts as given up.
    /// - Returns: Where to begin, or how long to wait. A process that begins renews the claim by ``recordScrub(_:at:)``.
    /// - Throws: ``DatabaseError``.
    package func claimScrub(at time: Int64, every interval: Int64, lease: Int64) throws -> ScrubTurn {
        func turn(_ text: String?) -> ScrubTurn {
            // The time when the last scrub ended, or when the present one was noted, which has a place as well.
            let parts = (text ?? "").split(separator: " ")
            let place = parts.dropFirst().first
            let span = place == nil ? interval : lease
            // The clock may have been set back since, or be that of another node. What is too far ahead does not count.
            if let last = parts.first.flatMap({ Int64($0) }), case let passed = time &- last, passed.magnitude < span {
                return .later(span - passed)
            }
            return .now(place.flatMap { ScrubPlace(text: $0) } ?? .documents(after: nil))
        }
        let found = turn(try setting(Self.scrubSetting))
        guard case .now = found else { return found }
        return try engine.hold { writer in
            let found = turn(try writer.setting(Self.scrubSetting))
            if case .now(let place) = found {
                try writer.setSetting(Self.scrubSetting, to: "\(time) \(place.text)")
            }
            return found
        }
    }

    /// Notes how far the claimed scrub is.
    ///
    /// - Parameters:
    ///   - place: Where it goes on; `nil` at its end.
    ///   - time: The current time in milliseconds.
    /// - Throws: ``DatabaseError``.
    package func recordScrub(_ place: ScrubPlace?, at time: Int64) throws {
        let text = place.map { "\(time) \($0.text)" } ?? "\(time)"
        try engine.hold { try $0.setSetting(Self.scrubSetting, to: text) }
    }
}

// MARK: - ScrubStep

/// The result of one step of a scrub.
package struct ScrubStep: Sendable {
    /// The place where the next step begins; `nil` after the last.
    package let next: ScrubPlace?
    /// The numbers of what was read, and the problems that were found.
    package let report: VerificationReport
}

/// The position of a scrub, which reads the documents first and then the contents of attachments.
package enum ScrubPlace: Sendable, Equatable {
    case documents(after: DocumentID?)
    case attachments(after: BlobDigest?)
}

/// Whether a database should be scrubbed.
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
