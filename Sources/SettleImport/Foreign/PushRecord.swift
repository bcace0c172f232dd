/// What a file says of the documents that its product had pushed to a server.
package enum PushRecord: Sendable, Equatable {
    /// Each document says it for itself: ``ForeignDocument/server``.
    case ofEachDocument
    /// All documents up to a sequence were pushed; 0 if none was.
    case upTo(UInt64)
    /// The file does not say it; the message says why, and what to do.
    case unknown(String)

    /// Whether a document need not be imported because the server has all of it.
    ///
    /// - Throws: ``ForeignFileError`` with code `unsupported` if the file does not say it.
    func includes(_ document: ForeignDocument) throws(ForeignFileError) -> Bool {
        switch self {
        case .ofEachDocument: document.server?.hasCurrent == true
        case .upTo(let sequence): document.sequence <= sequence
        case .unknown(let message): throw ForeignFileError(.unsupported, message)
        }
    }
}

extension ForeignDatabase {
    /// What the file says of pushed documents, if an import is to leave them out.
    ///
    /// - Returns: `nil` for an import of everything.
    /// - Throws: ``ForeignFileError`` with code `unsupported` if the options ask for documents that were not pushed, and the file does
    ///   not say which those are.
    package func pushRecord(for options: ImportOptions) throws -> PushRecord? {
        guard options.onlyUnpushed else { return nil }
        guard case .reader(let reader) = content else {
            throw ForeignFileError(
                .unsupported, "\(product) does not say what was pushed to a server: import all of it")
        }
        let record = try reader.pushRecord(to: options.syncedWith)
        if case .unknown(let message) = record { throw ForeignFileError(.unsupported, message) }
        return record
    }
}
