public import Foundation
public import SettleCore

/// Reads one kind of file of another product. Each product has one reader; a caller uses ``ForeignDatabase``.
///
/// A reader never writes to the original. It is used by one task at a time.
package protocol ForeignReader: AnyObject {
    /// The kind of file.
    var kind: ForeignDatabase.Kind { get }
    /// The product and version, such as "Couchbase Lite 1.4 (iOS), user_version 102".
    var product: String { get }
    /// The identity that the product gave the database, by which a second run knows that it resumes; `nil` if it gave none.
    var identity: String? { get }
    /// The names of the collections. A product without collections has one, `_default._default`.
    var collections: [String] { get }
    /// What is in the file and is not imported, such as views and cookies, each in a few words.
    var leftOut: [String] { get }

    /// The number of documents of a collection, tombstones included, for progress.
    func count(in collection: String) throws -> Int

    /// Passes the documents of a collection in ascending order of the source's sequences, from the one after `sequence`.
    ///
    /// - Throws: ``ForeignFileError`` if the file can't be read on; what `body` throws.
    func forEachDocument(
        in collection: String, after sequence: UInt64, _ body: (ForeignDocument) throws -> Void
    ) throws

    /// Passes the local documents, without checkpoints of replications.
    func forEachLocalDocument(_ body: (DocumentID, DocumentBody) throws -> Void) throws

    /// Passes the stored bytes of an attachment in pieces of at most 64 KiB.
    ///
    /// - Throws: ``ForeignFileError`` with code `missing` if the content is not in the file.
    func read(_ attachment: ForeignAttachment, _ body: (UnsafeRawBufferPointer) throws -> Void) throws

    /// Checks the structure of the whole file, as far as its format can be checked.
    ///
    /// - Throws: ``ForeignFileError`` with code `damaged`.
    func check() throws

    /// What the file says of pushed documents.
    ///
    /// - Parameter server: The URL that the app synced with, if the caller knows it.
    /// - Returns: The record.
    /// - Throws: ``ForeignFileError`` if the file can't be read on.
    func pushRecord(to server: URL?) throws -> PushRecord
}

extension ForeignReader {
    /// Checks nothing: a format that is checked while it is read.
    package func check() throws {}

    /// Says that the product keeps no record.
    package func pushRecord(to server: URL?) throws -> PushRecord {
        .unknown(
            "\(product) does not say what was pushed to a server: import all of it; a sync sends only what the server lacks"
        )
    }
}

/// The name of the collection of a product without collections.
package let defaultCollection = "_default._default"

// MARK: - ForeignDocument

/// A document of another product's database: its leaves with their histories, and what could not be read of it.
public struct ForeignDocument: Sendable {
    /// The document's id.
    public var id: DocumentID
    /// The highest sequence of the document in its source.
    public var sequence: UInt64
    /// The leaves, tombstones included, in any order.
    public var leaves: [Revision<ForeignAttachment>]
    /// The revisions on which branches begin, if their contents are kept: the bases of merges. They are stored before the
    /// leaves.
    public var bases: [Revision<ForeignAttachment>] = []
    /// When the document expires.
    public var expiration: Date?
    /// The revision that the product showed to the app, if that is another one than the winner here.
    public var shown: RevisionID?
    /// What could not be read of the document.
    public var faults: [ForeignFault] = []
    /// The server's copy, as the product last saw it; `nil` if the product does not record it for each document.
    public var server: ForeignServerState?
    /// Whether the file has versions in place of generations, so that the generations of the leaves are numbers of versions.
    package var hasVersions = false

    /// Creates a document.
    public init(id: DocumentID, sequence: UInt64, leaves: [Revision<ForeignAttachment>]) {
        self.id = id
        self.sequence = sequence
        self.leaves = leaves
    }
}

/// A part of a document that could not be read, and why.
public struct ForeignFault: Sendable, Equatable {
    /// The revision.
    public var revision: RevisionID?
    /// The attachment, if the fault is one of an attachment.
    public var attachment: String?
    /// The cause, such as "the body is not in the file".
    public var message: String

    /// Creates a fault.
    public init(revision: RevisionID?, attachment: String? = nil, message: String) {
        self.revision = revision
        self.attachment = attachment
        self.message = message
    }

    /// The fault of a revision with a member that is left out, because its name is reserved.
    static func reserved(_ name: String, in revision: RevisionID) -> ForeignFault {
        ForeignFault(revision: revision, message: "the member \"\(name)\" is left out: names with _ are reserved")
    }
}

/// What a product recorded of the server's copy of a document.
public struct ForeignServerState: Sendable, Equatable {
    /// Whether the server has the revision that the app saw.
    public var hasCurrent: Bool
    /// The signature of the server's revision, if it is known. Its generation may be another one at the server, because
    /// products with version vectors don't record it.
    public var signature: RevisionSignature?

    /// Creates a state.
    public init(hasCurrent: Bool, signature: RevisionSignature? = nil) {
        self.hasCurrent = hasCurrent
        self.signature = signature
    }
}

// MARK: - ForeignAttachment

/// An attachment whose content is in another product's file.
public struct ForeignAttachment: Sendable {
    /// The name, as in `_attachments`.
    public var name: String
    /// The media type.
    public var contentType: String
    /// The length of the content in bytes, before any compression.
    public var length: Int64
    /// The generation that brought it; 0 if unknown.
    public var revpos: UInt64
    /// The digest of the stored bytes, with which they are compared; `nil` if the format has none.
    public var digest: ForeignDigest?
    /// Whether the stored bytes are gzip.
    public var isGzip: Bool
    /// Where the reader finds the bytes.
    package var place: Place

    /// The place of a content.
    package enum Place: Sendable {
        /// A file beside the database.
        case file(URL)
        /// The bytes themselves.
        case bytes([UInt8])
        /// A key of the reader, such as the digest by which PouchDB stores contents.
        case key(String)
        /// Chunks of the database's file, as positions in it.
        case chunks([UInt64])
        /// The content is not there; the message says why.
        case missing(String)
    }

    /// Creates an attachment.
    package init(
        name: String, contentType: String, length: Int64, revpos: UInt64, digest: ForeignDigest?, isGzip: Bool = false,
        place: Place
    ) {
        self.name = name
        self.contentType = contentType
        self.length = length
        self.revpos = revpos
        self.digest = digest
        self.isGzip = isGzip
        self.place = place
    }
}

/// The digest of an attachment in another product's file.
public enum ForeignDigest: Sendable, Equatable {
    /// SHA-1, 20 bytes.
    case sha1([UInt8])
    /// MD5, 16 bytes.
    case md5([UInt8])
}

// MARK: - ForeignFileError

/// Why a file of another product can't be imported.
public struct ForeignFileError: Error, Sendable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: String, Sendable {
        /// The file is of a kind that is not read: encrypted, or a format that only its product can open. The message says what
        /// to do.
        case unsupported
        /// Its kind is not known, or it is not what it begins like.
        case unknown
        /// A part is not there, such as a write-ahead log or the content of an attachment.
        case missing
        /// The file contradicts its own format.
        case damaged
        /// Another program has it open.
        case inUse
        /// The system could not read it.
        case inputOutput
    }

    /// The kind of the failure.
    public let code: Code
    /// What the file is, why it can't be read, and what to do.
    public let message: String

    /// Creates an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}

// MARK: - PushRecord

/// What a file says of the documents that its product had pushed to a server.
package enum PushRecord: Sendable, Equatable {
    /// Each document has its own record: ``ForeignDocument/server``.
    case ofEachDocument
    /// All documents up to a sequence were pushed; 0 if no document was.
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
