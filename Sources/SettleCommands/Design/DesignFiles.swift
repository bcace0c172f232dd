internal import Foundation
internal import Settle

/// The files of a design document, from which ``DesignFolder`` reads the same document.
struct DesignFiles {
    /// Each file's path in the folder, and its text.
    private(set) var files: [(path: String, text: String)]

    /// - Throws: ``CommandError`` with status `refused` for a member whose name is not possible for a file.
    init(_ document: Document) throws {
        files = [("_id", document.id.string + "\n")]
        for member in try document.body().json.object ?? JSONObject() { try add(member.value, [member.name]) }
    }

    private mutating func add(_ value: JSONValue, _ path: [String]) throws {
        let file = path.joined(separator: "/")
        if Self.isFolder(value, path), let members = value.object {
            for member in members { try add(member.value, path + [member.name]) }
            return
        }
        guard path.allSatisfy(Self.isFileName) else {
            throw CommandError.invalid(
                "the member \(path.joined(separator: ".")) has a name that no file can have; read it with `settle get`")
        }
        if path == ["language"], let text = value.string {
            files.append((file, text + "\n"))
        } else if DesignScript.isScript(path), let text = value.string {
            files.append((file + ".js", text.hasSuffix("\n") ? text : text + "\n"))
        } else {
            files.append((file + ".json", value.prettyPrinted + "\n"))
        }
    }

    /// Whether a member becomes a folder: it holds functions or modules, and its names are possible for files.
    private static func isFolder(_ value: JSONValue, _ path: [String]) -> Bool {
        guard let members = value.object, !members.isEmpty, members.names.allSatisfy(isFileName) else { return false }
        switch path.first {
        case "filters", "updates", "shows", "lists": return path.count == 1
        case "views": return path.count < 3 || path[1] == "lib"
        case "lib": return true
        default: return false
        }
    }

    private static func isFileName(_ name: String) -> Bool {
        !name.isEmpty && !name.hasPrefix(".") && !name.contains("/") && !name.contains("\0") && name.utf8.count < 240
    }

    /// Writes the files.
    ///
    /// - Parameters:
    ///   - folder: The folder, which is created if needed.
    ///   - isForced: Whether the folder may have files already: those of the same names are replaced, and other members of a
    ///   design document are removed.
    /// - Returns: The files that were removed.
    /// - Throws: ``CommandError`` with status `conflict` for a folder with files.
    func write(to folder: String, isForced: Bool) throws -> [String] {
        let manager = FileManager.default
        let there = (manager.subpaths(atPath: folder) ?? []).sorted()
        guard isForced || there.allSatisfy({ $0.hasPrefix(".") }) else {
            throw CommandError(
                "exists", "\(folder) has files already; give --force to replace those of the design document",
                status: .conflict)
        }
        var removed: [String] = []
        if isForced {
            let written = Set(files.map(\.path))
            for file in there where Self.isMember(file) && !written.contains(file) {
                var isFolder: ObjCBool = false
                guard manager.fileExists(atPath: folder + "/" + file, isDirectory: &isFolder), !isFolder.boolValue
                else {
                    continue
                }
                try Self.trying(folder + "/" + file) { try manager.removeItem(atPath: $0) }
                removed.append(file)
            }
        }
        for (file, text) in files {
            let place = URL(filePath: folder + "/" + file)
            try Self.trying(place.path) { _ in
                try manager.createDirectory(at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(text.utf8).write(to: place)
            }
        }
        return removed
    }

    /// Whether ``DesignFolder`` reads a file as a member.
    private static func isMember(_ file: String) -> Bool {
        let parts = file.split(separator: "/")
        guard let name = parts.last, !parts.contains(where: { $0.hasPrefix(".") }), parts.first != "_attachments" else {
            return false
        }
        return !name.contains(".") || name.hasSuffix(".js") || name.hasSuffix(".json")
    }

    private static func trying(_ path: String, _ body: (String) throws -> Void) throws {
        do { try body(path) } catch {
            let cause = (error as? CocoaError)?.underlying as? POSIXError
            let reason = cause.map { String(cString: strerror($0.code.rawValue)) } ?? error.localizedDescription
            throw CommandError.inputOutput("can't write \(path): \(reason); choose another folder")
        }
    }
}
