internal import SettleCore
internal import SettlePlatform

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Database {
    /// Creates an attachment from content in memory.
    ///
    ///     note.attach(try database.makeAttachment("photo.jpg", contentType: "image/jpeg", content: data))
    ///     try database.save(note)
    ///
    /// - Throws: ``DatabaseError`` with code `invalid` for a name that starts with an underscore, `diskFull` or
    ///   `inputOutput`.
    public func makeAttachment(
        _ name: String, contentType: String = "application/octet-stream", content: Data
    ) throws -> DocumentAttachment {
        let writer = try attachmentWriter(contentType: contentType)
        try writer.write(content)
        return try writer.finish(name: name)
    }

    /// Creates an attachment from bytes in memory; see ``makeAttachment(_:contentType:content:)-(_,_,Data)``.
    public func makeAttachment(
        _ name: String, contentType: String = "application/octet-stream", content: [UInt8]
    ) throws -> DocumentAttachment {
        let writer = try attachmentWriter(contentType: contentType)
        try writer.write(content)
        return try writer.finish(name: name)
    }

    /// Creates an attachment from a file, in bounded memory.
    ///
    ///     let movie = try database.makeAttachment("holiday.mp4", contentType: "video/mp4", file: url)
    ///
    /// The content is in the database afterwards, and the file is not needed any more. It is long work for a large file: call
    /// it within `perform`.
    ///
    /// - Parameters:
    ///   - name: The attachment's name in the document.
    ///   - contentType: The media type.
    ///   - file: The URL of a file.
    ///   - progress: Called after each piece with the bytes read so far, and the length of the file. If it throws, nothing is
    ///     stored; `{ _, _ in try Task.checkCancellation() }` makes the call end with its task.
    /// - Returns: The attachment, to be attached to a document of this database.
    /// - Throws: ``DatabaseError`` with code `notFound` if there is no file, `invalid` for a URL that names no file and for a
    ///   name that starts with an underscore, `inputOutput` if the file can't be read, or `diskFull`; errors of
    ///   `progress`.
    public func makeAttachment(
        _ name: String, contentType: String = "application/octet-stream", file: URL,
        progress: (_ done: Int64, _ total: Int64) throws -> Void = { _, _ in }
    ) throws -> DocumentAttachment {
        let path = try Self.path(of: file)
        guard let status = FileStatus(path: path) else {
            throw DatabaseError(.notFound, "there is no file at \(path) to attach as \"\(name)\"")
        }
        guard !status.isFolder else {
            throw DatabaseError(.invalid, "\(path) is a folder; attach its files one by one, or an archive of it")
        }
        let source = try FileHandleReader(path: path)
        let total = try source.size()
        let writer = try attachmentWriter(contentType: contentType)
        var done: Int64 = 0
        while case let piece = try source.read(upTo: 256 * 1024), !piece.isEmpty {
            try writer.write(piece)
            done += Int64(piece.count)
            try progress(done, max(done, total))
        }
        return try writer.finish(name: name)
    }

    /// Writes the content of an attachment to a file, in bounded memory.
    ///
    ///     try database.write(movie, to: FileManager.default.temporaryDirectory.appending(path: movie.name))
    ///
    /// A file of that name is replaced when all is written. If the call throws, it is as it was, and nothing is left beside it.
    /// A symbolic link is followed, and a device or a pipe is written into.
    ///
    /// - Parameters:
    ///   - attachment: An attachment of this database.
    ///   - file: The URL of the file.
    ///   - progress: Called after each piece with the bytes written so far, and the length of the content. If it throws, nothing
    ///     is written.
    /// - Throws: ``DatabaseError`` with code `attachmentMissing`, `notFound` if there is no folder for the file, `invalid` for a
    ///   URL that names no file, `diskFull`, or `inputOutput` if the file can't be written; errors of `progress`.
    public func write(
        _ attachment: DocumentAttachment, to file: URL,
        progress: (_ done: Int64, _ total: Int64) throws -> Void = { _, _ in }
    ) throws {
        let path = try Self.path(of: file)
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard FileStatus(path: folder)?.isFolder == true else {
            throw DatabaseError(
                .notFound, "there is no folder \(folder) to write \"\(attachment.name)\" to; make it first")
        }
        guard FileStatus(path: path)?.isFolder != true else {
            throw DatabaseError(.invalid, "\(path) is a folder; add the name of a file, such as \"\(attachment.name)\"")
        }
        let reader = try attachmentReader(for: attachment)
        guard case .file(let whole) = FileTarget(path) else {
            return try copy(reader, attachment.length, to: FileHandleWriter(path: path), progress)
        }
        let unfinished = "\(whole).\(DocumentID.unique())"
        do {
            let target = try FileHandleWriter(path: unfinished)
            try copy(reader, attachment.length, to: target, progress)
            try target.synchronize()
            try renameDurably(unfinished, to: whole)
        } catch {
            try? removeIfThere(unfinished)
            throw error
        }
    }

    private func copy(
        _ reader: AttachmentReader, _ length: Int64, to target: FileHandleWriter,
        _ progress: (_ done: Int64, _ total: Int64) throws -> Void
    ) throws {
        var done: Int64 = 0
        while let piece = try reader.read() {
            try piece.withUnsafeBytes { try target.write($0) }
            done += Int64(piece.count)
            try progress(done, max(done, length))
        }
    }

    private static func path(of file: URL) throws -> String {
        guard file.isFileURL, !file.path.isEmpty else {
            throw DatabaseError(
                .invalid, "\(file.absoluteString) is not the URL of a file; make one with URL(filePath:)")
        }
        return file.path
    }
}
