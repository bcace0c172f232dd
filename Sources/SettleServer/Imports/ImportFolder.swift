internal import Foundation
internal import SettleDatabase
internal import SettlePlatform

/// The file of an import, in a folder of its own in the folder for uploads. Readers of other products' files open them by
/// their paths, and look for what may lie beside them.
struct ImportFolder: Sendable {
    /// The path of the folder.
    let path: String
    private static let beginning = "import."
    /// The maximum length of a name in bytes.
    private static let longestName = 200

    /// Makes an empty folder.
    ///
    /// - Parameter uploads: The folder for uploads.
    /// - Throws: ``DatabaseError`` with code `inputOutput` or `diskFull`.
    init(in uploads: String) throws {
        var template = Array("\(uploads)/\(Self.beginning)XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw systemError("making a folder for an import in \(uploads)") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Writes a request's body into a file.
    ///
    /// - Parameters:
    ///   - body: The body.
    ///   - name: The file's name as the client gave it; only its last component is used.
    /// - Returns: The path of the file.
    /// - Throws: ``DatabaseError`` with code `inputOutput` or `diskFull`.
    func write(_ body: any RequestBody, as name: String) throws -> String {
        let safe = Self.safe(name)
        let file = try UploadFile(named: safe, in: path)
        while let piece = try body.read() { try file.append(piece) }
        return "\(path)/\(safe)"
    }

    /// A name that leads nowhere else, and ends as the given one.
    static func safe(_ name: String) -> String {
        let last = name.split { $0 == "/" || $0 == "\\" }.last ?? ""
        var text = String(last.filter { !$0.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F } })
        while text.utf8.count > longestName { text.removeFirst() }
        let plain = String(text.drop { $0 == "." })
        return plain.isEmpty ? "upload" : plain
    }

    /// Removes the folder with all that is in it.
    func remove() { try? FileManager.default.removeItem(atPath: path) }

    /// Removes the folders that are left of a process that was ended.
    static func removeLeftovers(in uploads: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: uploads)) ?? []
        where name.hasPrefix(beginning) {
            try? FileManager.default.removeItem(atPath: "\(uploads)/\(name)")
        }
    }
}
