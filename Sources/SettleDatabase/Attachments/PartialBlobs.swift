internal import SettlePlatform

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Partial downloads, in files named by the expected digest and length. They can be resumed, also by another
/// process.
///
///     attachments/partial/5d41402abc4b2a76b9719d911017c592-104857600      the first bytes of a content of that MD5 and length
///
/// No row refers to such a file, and its bytes are trusted only when they are complete and match the digest.
/// Compaction removes the files that are not being written.
final class PartialBlobs: Sendable {
    /// A file for a content, which one writer uses exclusively.
    final class Place: Sendable {
        let path: String
        fileprivate let release: @Sendable () -> Void

        fileprivate init(_ path: String, release: @escaping @Sendable () -> Void) {
            (self.path, self.release) = (path, release)
        }

        deinit { release() }
    }

    private let files: DatabaseFiles
    private let taken = Guarded<Set<String>>([])

    init(files: DatabaseFiles) { self.files = files }

    /// The file of a content; `nil` if another writer uses it.
    ///
    /// - Throws: ``DatabaseError`` with code `inputOutput`, or `closed` if the database was deleted.
    func claim(_ digest: AttachmentDigest, length: Int64) throws -> Place? {
        guard files.exist else { throw DatabaseError(.closed, "the database was deleted") }
        let folder = files.partialAttachments
        try makePrivateFolder(folder)
        let name = Hexadecimal.encode(digest.md5) + "-\(length)"
        guard taken.withLock({ $0.insert(name).inserted }) else { return nil }
        return Place("\(folder)/\(name)") { [weak self] in _ = self?.taken.withLock { $0.remove(name) } }
    }

    /// Removes the files that are not being written.
    func removeAll() {
        taken.withLock { taken in
            for name in (try? FileManager.default.contentsOfDirectory(atPath: files.partialAttachments)) ?? []
            where !taken.contains(name) {
                try? FileManager.default.removeItem(atPath: "\(files.partialAttachments)/\(name)")
            }
        }
    }
}
