internal import SettlePlatform

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Contents that have come in part, kept in files under what they are to be, so that the rest can come later, also to
/// another process.
///
///     attachments/partial/5d41402abc4b2a76b9719d911017c592-104857600      the first bytes of a content of that MD5 and length
///
/// Nothing mentions such a file, and what is in it is trusted only when all of it has come and is what its digest says. Those
/// that nobody has taken up are removed by compaction.
final class PartialBlobs: Sendable {
    /// A place for a content, which is its owner's alone as long as it lives.
    final class Place: Sendable {
        let path: String
        fileprivate let release: @Sendable () -> Void

        fileprivate init(_ path: String, release: @escaping @Sendable () -> Void) {
            (self.path, self.release) = (path, release)
        }

        deinit { release() }
    }

    private let files: DatabaseFiles?
    private let taken = Guarded<Set<String>>([])

    init(files: DatabaseFiles?) { self.files = files }

    /// The place of a content; `nil` in memory, or when another writer has it.
    ///
    /// - Throws: ``DatabaseError`` with code `inputOutput`, or `closed` when the database was deleted.
    func take(_ digest: AttachmentDigest, length: Int64) throws -> Place? {
        guard let files else { return nil }
        guard files.exist else { throw DatabaseError(.closed, "the database was deleted") }
        let folder = files.partialAttachments
        if !FileManager.default.fileExists(atPath: folder) {
            do { try makePrivateFolder(folder) } catch {
                throw DatabaseError(.inputOutput, "can't make the folder \(folder)", cause: error)
            }
        }
        let name = Hexadecimal.encode(digest.md5) + "-\(length)"
        guard taken.withLock({ $0.insert(name).inserted }) else { return nil }
        return Place("\(folder)/\(name)") { [weak self] in _ = self?.taken.withLock { $0.remove(name) } }
    }

    /// Removes those that nobody is writing.
    func removeAll() {
        guard let files else { return }
        taken.withLock { taken in
            for name in (try? FileManager.default.contentsOfDirectory(atPath: files.partialAttachments)) ?? []
            where !taken.contains(name) {
                try? FileManager.default.removeItem(atPath: "\(files.partialAttachments)/\(name)")
            }
        }
    }
}
