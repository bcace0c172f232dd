package import SettleCore
internal import SettlePlatform

extension Database {
    private static let scrubSetting = "scrubbed"

    /// Reads a page of the stored data and compares it with its checksums and digests. ``verify(progress:)`` does so with all data.
    ///
    /// - Parameters:
    ///   - place: The position to begin at.
    ///   - limit: The maximum number of documents; contents of attachments are read one by one.
    /// - Returns: The problems that were found, and the position to continue at.
    /// - Throws: ``DatabaseError`` if the system can't read, or with code `closed` or `corrupt`.
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
    /// If the node of a scrub has stopped, the scrub can be claimed after the lease, and continues at the last
    /// recorded position.
    ///
    /// - Parameters:
    ///   - time: The current time in milliseconds.
    ///   - interval: The time between the end of a scrub and the next one in milliseconds.
    ///   - lease: The time in milliseconds after which a scrub counts as abandoned if its position was not recorded
    ///     again.
    /// - Returns: The position to begin at, or the time to wait. The process that begins renews its claim with
    ///   ``recordScrub(_:at:)``.
    /// - Throws: ``DatabaseError``.
    package func claimScrub(at time: Int64, every interval: Int64, lease: Int64) throws -> ScrubTurn {
        func turn(_ text: String?) -> ScrubTurn {
            // The time at which the last scrub ended, or at which the position of the current one was recorded;
            // then the position follows.
            let parts = (text ?? "").split(separator: " ")
            let place = parts.dropFirst().first
            let span = place == nil ? interval : lease
            // The time may lie in the future, if the clock was set back or another node's clock is ahead. A time
            // too far ahead is ignored.
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

    /// Records the position of the claimed scrub.
    ///
    /// - Parameters:
    ///   - place: The position to continue at; `nil` at the end.
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
    /// The position of the next step; `nil` after the last.
    package let next: ScrubPlace?
    /// The numbers of checked documents and contents, and the problems that were found.
    package let report: VerificationReport
}

/// The position of a scrub, which reads the documents first and then the contents of attachments.
package enum ScrubPlace: Sendable, Equatable {
    case documents(after: DocumentID?)
    case attachments(after: BlobDigest?)
}

/// The decision whether a database should be scrubbed now.
package enum ScrubTurn: Sendable, Equatable {
    /// Now, from that position on.
    case now(ScrubPlace)
    /// Later, after these milliseconds.
    case later(Int64)
}

extension ScrubPlace {
    /// The position in the form that a database stores: digits and letters only.
    var text: String {
        switch self {
        case .documents(let last): "d" + Hexadecimal.encode((last?.string ?? "").utf8)
        case .attachments(let last): "a" + (last?.description ?? "")
        }
    }

    /// Reads a stored position; `nil` for other text.
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
