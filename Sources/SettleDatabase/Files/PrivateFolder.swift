internal import SettlePlatform

/// Creates a folder that only its owner may enter, with missing parent folders; an existing one stays unchanged.
///
/// - Throws: ``DatabaseError`` with code `inputOutput` or `diskFull`, which names the cause and a way out.
package func makePrivateFolder(_ path: String) throws {
    if mkdir(path, 0o700) == 0 { return }
    if errno == ENOENT, let parent = parentFolder(of: path) {
        try makePrivateFolder(parent)
        if mkdir(path, 0o700) == 0 { return }
    }
    let number = errno
    var status = stat()
    if number == EEXIST, stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { return }
    let error = systemError("can't create the folder \(path)", number)
    throw DatabaseError(error.code, "\(error.message); \(advice(number))")
}

/// The folder that a path is in, unless it is the root or the working folder.
private func parentFolder(of path: String) -> String? {
    var names = path[...]
    while names.hasSuffix("/") { names.removeLast() }
    guard let slash = names.lastIndex(of: "/"), slash != names.startIndex else { return nil }
    return String(names[..<slash])
}

/// What to do when a folder can't be created.
private func advice(_ number: Int32) -> String {
    switch number {
    case EACCES, EPERM: "change the permissions of the folder it is in, or choose another place"
    case EEXIST, ENOTDIR: "a file has that name, or that of a folder above it; choose another place"
    case EROFS: "the disk is read-only; choose another place"
    case ENOSPC, EDQUOT: "or choose another place"
    default: "choose another place"
    }
}
