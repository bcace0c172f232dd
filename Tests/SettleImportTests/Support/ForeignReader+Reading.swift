import Foundation
import SettleCore
import SettleCrypto

@testable import SettleImport

extension FixtureFiles {
    /// Whether a folder of files exists.
    static func has(_ folder: String) -> Bool {
        FileManager.default.fileExists(atPath: url(folder).path)
    }

    static func bytes(_ url: URL) throws -> [UInt8] { Array(try Data(contentsOf: url)) }

    /// The digest and the modification time of each file of a folder and the folders in it, by its path.
    static func state(of url: URL) throws -> [String: [UInt8]] {
        var files = [url]
        if let inside = FileManager.default.enumerator(at: url, includingPropertiesForKeys: nil) {
            files += inside.compactMap { $0 as? URL }
        }
        var state: [String: [UInt8]] = [:]
        for file in files {
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
            guard attributes[.type] as? FileAttributeType == .typeRegular else {
                state[file.path] = []
                continue
            }
            let time = (attributes[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0
            state[file.path] = try SHA1.hash(bytes(file)) + Array("\(time)".utf8)
        }
        return state
    }
}

extension ForeignReader {
    /// All documents of a collection, by id, in the order in which they come.
    func documents(in collection: String = defaultCollection, after sequence: UInt64 = 0) throws -> [ForeignDocument] {
        var documents: [ForeignDocument] = []
        try forEachDocument(in: collection, after: sequence) { documents.append($0) }
        return documents
    }

    /// The local documents by id.
    func localDocuments() throws -> [String: DocumentBody] {
        var documents: [String: DocumentBody] = [:]
        try forEachLocalDocument { documents[$0.string] = $1 }
        return documents
    }

    /// The stored bytes of an attachment.
    func content(of attachment: ForeignAttachment) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try read(attachment) { piece in
            bytes += piece
            if piece.count > 64 << 10 { throw ForeignFileError(.damaged, "a piece is too long") }
        }
        return bytes
    }

    /// Whether the stored bytes of an attachment are those that its digest says; `nil` if they are not in the file.
    func isWhole(_ attachment: ForeignAttachment) throws -> Bool? {
        let bytes: [UInt8]
        do { bytes = try content(of: attachment) } catch let error as ForeignFileError where error.code == .missing {
            return nil
        }
        return switch attachment.digest {
        case .sha1(let digest): SHA1.hash(bytes) == digest
        case .md5(let digest):
            {
                let sum = MD5()
                sum.update(bytes)
                return sum.finish() == digest
            }()
        case nil: true
        }
    }
}

extension ForeignDocument {
    /// A leaf by its revision.
    func leaf(_ revision: String) -> Revision<ForeignAttachment>? {
        leaves.first { $0.revision.description == revision }
    }
}
