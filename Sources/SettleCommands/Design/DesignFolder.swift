internal import Foundation
internal import Settle

/// A folder of files that form a design document, in couchapp's layout.
///
///     shop/
///       _id                     _design/shop; by default from the folder's name
///       language                by default javascript
///       views/by-name/map.js    a function
///       views/by-name/reduce.js another, or _count
///       views/lib/text.js       a module, for require("views/lib/text")
///       filters/mine.js  updates/bump.js  validate_doc_update.js
///       options.json            any JSON
///
/// Folders are objects; `.js` files and those without an extension are texts. Files with another extension or a leading dot
/// are ignored.
struct DesignFolder {
    let path: String
    /// The members, ordered by name.
    private(set) var members = JSONObject()
    /// All JavaScript members.
    private(set) var scripts: [DesignScript] = []
    /// Ignored files and folders.
    private(set) var ignored: [String] = []
    private var givenID: String?

    private static let deepest = 16
    private static let largestFile = 8_000_000

    /// Reads a folder.
    ///
    /// - Throws: ``CommandError`` with status `notFound` if it does not exist, `refused` for a file that can't be a member.
    init(_ path: String) throws {
        self.path = path
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
            throw CommandError.notFound("there is no folder \(path)")
        }
        var top = try read("", [])
        givenID = top["_id"]?.string
        for name in ["_id", "_rev"] { top[name] = nil }
        if top["language"] == nil { top["language"] = "javascript" }
        members = top
    }

    /// The id, from the file `_id` or the folder's name.
    var id: String {
        let name = givenID ?? URL(filePath: path).standardizedFileURL.lastPathComponent
        return "_design/" + ViewName.designName(name)
    }

    private mutating func read(_ folder: String, _ place: [String]) throws -> JSONObject {
        guard place.count < Self.deepest else {
            throw CommandError.invalid("\(path)/\(folder) lies deeper than \(Self.deepest) folders")
        }
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: path + "/" + folder).sorted() } catch {
            throw CommandError.inputOutput("can't read the folder \(path)/\(folder)")
        }
        var members = JSONObject()
        for name in names where !name.hasPrefix(".") {
            let file = folder.isEmpty ? name : folder + "/" + name
            guard let (member, value) = try read(name, file, place) else { continue }
            guard members[member] == nil else {
                throw CommandError.invalid(
                    "\(path)/\(file) is a second file for \((place + [member]).joined(separator: "."))")
            }
            members[member] = value
        }
        return members
    }

    /// The member of a file or folder; `nil` for invalid input.
    private mutating func read(_ name: String, _ file: String, _ place: [String]) throws -> (String, JSONValue)? {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path + "/" + file, isDirectory: &isFolder) else { return nil }
        if isFolder.boolValue {
            if place.isEmpty, name == "_attachments" {
                ignored.append(file)
                return nil
            }
            let members = try read(file, place + [name])
            return members.isEmpty ? nil : (name, .object(members))
        }
        let (stem, ending) = Self.parts(name)
        guard ["", "js", "json"].contains(ending) else {
            ignored.append(file)
            return nil
        }
        let text = try text(file)
        if ending == "json" {
            do throws(JSONError) { return (stem, try JSONValue(parsing: text)) } catch {
                throw CommandError.invalid("\(path)/\(file), line \(error.line): \(error.message)")
            }
        }
        let member = place + [stem]
        let isBuiltIn = stem == "reduce" && text.hasPrefix("_")
        if ending == "js" || DesignScript.isFunction(member), !isBuiltIn {
            scripts.append(DesignScript(path: member, file: "\(path)/\(file)", text: text))
        }
        return (stem, .string(text))
    }

    /// The text of a file, without trailing line ends.
    private func text(_ file: String) throws -> String {
        let input = try ByteInput.open(path + "/" + file)
        guard (input.size ?? 0) <= Self.largestFile else {
            throw CommandError.invalid("\(path)/\(file) is larger than \(Quantity.bytes(Int64(Self.largestFile)))")
        }
        guard let text = String(validating: try input.readAll(), as: UTF8.self) else {
            throw CommandError.invalid("\(path)/\(file) is not text in UTF-8")
        }
        return Self.trimmed(text)
    }

    /// A text without trailing line ends, which editors add and remove.
    static func trimmed(_ text: String) -> String {
        guard let end = text.lastIndex(where: { !$0.isNewline }) else { return "" }
        return String(text[...end])
    }

    /// A file's name without and its extension.
    private static func parts(_ name: String) -> (stem: String, ending: String) {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return (name, "") }
        return (String(name[..<dot]), String(name[name.index(after: dot)...]))
    }
}
