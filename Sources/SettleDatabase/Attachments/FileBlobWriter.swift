/// Writes a large content to a file, which gets its name when it is finished.
final class FileBlobWriter: ResumableBlobWriter {
    private let blobs: FileBlobs
    private let path: String
    private var writer: FileHandleWriter
    /// The file of a partial content, which stays for the next writer.
    private var place: PartialBlobs.Place?
    private var isEmpty = true
    private var isFinished = false

    /// Begins a new file.
    init(_ path: String, for blobs: FileBlobs) throws {
        self.blobs = blobs
        self.path = path
        writer = try FileHandleWriter(path: path)
    }

    /// Continues a partial content; one that is too long begins again.
    init(_ place: PartialBlobs.Place, length: Int64, for blobs: FileBlobs) throws {
        self.blobs = blobs
        self.place = place
        path = place.path
        writer = try FileHandleWriter(path: path, goesOn: true)
        let size = try FileHandleReader(path: path).size()
        if size > length { try restart() } else { isEmpty = size == 0 }
    }

    /// Unfinished content leaves no file, unless another writer may resume it.
    deinit {
        if !isFinished, place == nil || isEmpty { try? removeIfThere(path) }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws {
        if !bytes.isEmpty { isEmpty = false }
        try writer.write(bytes)
    }

    func finish(as digest: BlobDigest) throws -> FinishedBlob {
        try writer.synchronize()
        try blobs.adopt(path, as: digest)
        (isFinished, place) = (true, nil)
        return FinishedBlob(place: nil, pin: nil)
    }

    func storedBytes() throws -> any BlobReader { try FileHandleReader(path: path) }

    func restart() throws {
        writer = try FileHandleWriter(path: path)
        isEmpty = true
    }

    func discard() { place = nil }
}
