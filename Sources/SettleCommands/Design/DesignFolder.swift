internal import Foundation
internal import Settle
internal import SettlePlatform
internal import SettleScripting

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
///       nouveau/by-text/index.js, evently/items/row.html     functions and texts for other programs
///
/// Folders are objects; `.js` files and those without an extension are texts. So are files with another extension in folders
/// whose functions the server does not run; elsewhere these are ignored, as are names with a leading dot.
struct DesignFolder {
    let path: String
    /// The members, ordered by name.
    private(set) var members = JSONObject()
    /// The functions that a server runs, and the modules that they can load.
    private(set) var scripts: [DesignScript] = []
    /// Ignored files and folders.
    private(set) var ignored: [String] = []
    private var givenID: String?
    /// Other `.js` files. One is a module if a script requires it.
    private var others: [[String]: DesignScript] = [:]

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
        addRequiredModules()
    }

    /// Adds the files that the scripts load by `require`, and those that these load.
    private mutating func addRequiredModules() {
        var index = 0
        while index < scripts.count {
            for path in scripts[index].requiredModules {
                if let module = others.removeValue(forKey: path) { scripts.append(module) }
            }
            index += 1
        }
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
            // Members with a leading underscore are not allowed: `_attachments`, `_docs`.
            if place.isEmpty, name.hasPrefix("_") {
                ignored.append(file)
                return nil
            }
            let members = try read(file, place + [name])
            return members.isEmpty ? nil : (name, .object(members))
        }
        let (stem, ending) = Self.parts(name)
        let isOther = !["", "js", "json"].contains(ending)
        guard !isOther || DesignScript.isForeign(place), let text = try text(file, isOptional: isOther) else {
            ignored.append(file)
            return nil
        }
        if ending == "json" {
            do throws(JSONError) { return (stem, try JSONValue(parsing: text)) } catch {
                throw CommandError.invalid("\(path)/\(file), line \(error.line): \(error.message)")
            }
        }
        let member = place + [stem]
        let isBuiltIn = stem == "reduce" && text.hasPrefix("_")
        let script = DesignScript(path: member, file: "\(path)/\(file)", text: text)
        if script.isRun || ending == "js" && script.isLibrary {
            if !isBuiltIn { scripts.append(script) }
        } else if ending == "js" {
            others[member] = script
        }
        return (stem, .string(text))
    }

    /// The text of a file, without trailing line ends; `nil` for other bytes in an optional file.
    private func text(_ file: String, isOptional: Bool) throws -> String? {
        let input = try ByteInput.open(path + "/" + file)
        guard (input.size ?? 0) <= Self.largestFile else {
            throw CommandError.invalid("\(path)/\(file) is larger than \(Quantity.bytes(Int64(Self.largestFile)))")
        }
        guard let text = String(validating: try input.readAll(), as: UTF8.self) else {
            if isOptional { return nil }
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

/// The files of a folder, without reading it as a design document.
extension DesignFolder {
    /// The name of the design document in the file `_id` of a folder; `nil` without such a file.
    static func givenName(in folder: String) throws -> String? {
        let file = folder + "/_id"
        guard FileStatus(path: file)?.isRegular == true else { return nil }
        return ViewName.designName(trimmed(String(decoding: try ByteInput.open(file).readAll(), as: UTF8.self)))
    }

    /// The files that are read as members: paths in the folder, in order.
    ///
    /// JSON is included whatever it contains, so that a file with an error can be replaced.
    static func memberFiles(in folder: String) throws -> [String] {
        let there = (FileManager.default.subpaths(atPath: folder) ?? []).sorted()
        return try there.filter { file in try isMember(file) && hasText(folder + "/" + file) }
    }

    /// Whether a file is read as a member if it contains text.
    private static func isMember(_ file: String) -> Bool {
        let names = file.split(separator: "/").map(String.init)
        guard let name = names.last, names.count <= deepest, !names.contains(where: { $0.hasPrefix(".") }),
            names.count == 1 || !file.hasPrefix("_")
        else { return false }
        let (stem, ending) = parts(name)
        if names.count == 1, stem == "_rev" { return false }
        return ["", "js", "json"].contains(ending) || DesignScript.isForeign(Array(names.dropLast()))
    }

    private static func hasText(_ path: String) throws -> Bool {
        guard let status = FileStatus(path: path), status.isRegular, status.size <= Int64(largestFile) else {
            return false
        }
        return String(validating: try ByteInput.open(path).readAll(), as: UTF8.self) != nil
    }
}

// MARK: - DesignFiles

/// The files of a design document, from which ``DesignFolder`` reads the same document.
struct DesignFiles {
    /// Each file's path in the folder, and its text.
    private(set) var files: [(path: String, text: String)]
    /// The id of the design document.
    private let id: String

    /// - Throws: ``CommandError`` with status `refused` for a member whose name can't be the name of a file.
    init(_ document: Document) throws {
        id = document.id.string
        files = [("_id", id + "\n")]
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
        } else if DesignScript.isScript(path) || Self.looksLikeFunction(value, path), let text = value.string {
            files.append((file + ".js", text.hasSuffix("\n") ? text : text + "\n"))
        } else {
            files.append((file + ".json", value.prettyPrinted + "\n"))
        }
    }

    /// Whether a member becomes a folder: it contains functions or modules, and all its names can be names of
    /// files.
    private static func isFolder(_ value: JSONValue, _ path: [String]) -> Bool {
        guard let members = value.object, !members.isEmpty, members.names.allSatisfy(isFileName) else { return false }
        switch path.first {
        case "filters", "updates", "shows", "lists": return path.count == 1
        case "views": return path.count < 3 || path[1] == "lib"
        case "nouveau", "indexes", "fulltext": return path.count < 3
        case "lib", "evently": return true
        default: return false
        }
    }

    /// Whether a text of a folder for other programs is JavaScript, as far as one can see.
    private static func looksLikeFunction(_ value: JSONValue, _ path: [String]) -> Bool {
        guard path.count > 1, DesignScript.isForeign(Array(path.dropLast())), let text = value.string else {
            return false
        }
        return text.drop(while: \.isWhitespace).hasPrefix("function")
    }

    private static func isFileName(_ name: String) -> Bool {
        !name.isEmpty && !name.hasPrefix(".") && !name.contains("/") && !name.contains("\0") && name.utf8.count < 240
    }

    /// Writes the files.
    ///
    /// - Parameters:
    ///   - folder: The folder, which is created if needed.
    ///   - isForced: Whether the folder may already have files. Files with the same names are replaced, and files of
    ///     members that the design document does not have are removed, if the folder is its own.
    /// - Returns: The files that were removed.
    /// - Throws: ``CommandError`` with status `conflict` for a folder with files, or with those of something else.
    func write(to folder: String, isForced: Bool) throws -> [String] {
        let manager = FileManager.default
        let there = manager.subpaths(atPath: folder) ?? []
        guard isForced || there.allSatisfy({ $0.hasPrefix(".") }) else {
            throw CommandError(
                "exists",
                "\(folder) has files already; pull into an empty folder, or give --force to replace the files of the "
                    + "design document and remove those of stale members",
                status: .conflict)
        }
        let removed = isForced ? try staleFiles(in: folder) : []
        for file in removed { try Self.trying(folder + "/" + file) { try manager.removeItem(atPath: $0) } }
        for (file, text) in files {
            let place = URL(filePath: folder + "/" + file)
            try Self.trying(place.path) { _ in
                try manager.createDirectory(at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(text.utf8).write(to: place)
            }
        }
        return removed
    }

    /// The files of members that the design document does not have.
    ///
    /// - Throws: ``CommandError`` with status `conflict` for a folder of another design document, or for one with such
    ///   files whose file `_id` does not say that it is the folder of this document.
    private func staleFiles(in folder: String) throws -> [String] {
        let given = try DesignFolder.givenName(in: folder).flatMap { $0.isEmpty ? nil : $0 }
        if let given, given != ViewName.designName(id) {
            throw CommandError(
                "exists", "\(folder) is the folder of _design/\(given), not of \(id); pull into an empty folder",
                status: .conflict)
        }
        let written = Set(files.map(\.path))
        let stale = try DesignFolder.memberFiles(in: folder).filter { !written.contains($0) }
        guard given == nil, !stale.isEmpty else { return stale }
        let shown = stale.prefix(3).joined(separator: ", ")
        let others = stale.count > 3 ? " and \(Quantity.of(stale.count - 3, "other file"))" : ""
        throw CommandError(
            "exists",
            "\(folder) has no file _id that names \(id), and these would be removed as stale members: \(shown)\(others)"
                + "; pull into an empty folder, or if they are members, write \(id) into \(folder)/_id",
            status: .conflict)
    }

    private static func trying(_ path: String, _ body: (String) throws -> Void) throws {
        do { try body(path) } catch {
            let cause = (error as? CocoaError)?.underlying as? POSIXError
            let reason = cause.map { String(cString: strerror($0.code.rawValue)) } ?? error.localizedDescription
            throw CommandError.inputOutput("can't write \(path): \(reason); choose another folder")
        }
    }
}

// MARK: - DesignScript

/// A function or module of a design document, and the file it is in.
struct DesignScript {
    /// Its path in the document.
    let path: [String]
    /// The file, as messages name it.
    let file: String
    let text: String

    /// Whether it is a module for `require`, not a function.
    var isModule: Bool { !Self.isFunction(path) }

    /// Whether a member of a design document is the source of a function.
    static func isFunction(_ path: [String]) -> Bool {
        switch path.first {
        case "validate_doc_update", "rewrites": path.count == 1
        case "filters", "updates", "shows", "lists": path.count == 2
        case "views": path.count == 3 && path[1] != "lib" && ["map", "reduce"].contains(path[2])
        default: false
        }
    }

    /// Whether a server runs it: shows, lists and rewrites are stored and not run.
    var isRun: Bool { Self.isFunction(path) && !["shows", "lists", "rewrites"].contains(path.first) }

    /// Whether it is in a folder of modules.
    var isLibrary: Bool { path.first == "lib" || path.starts(with: ["views", "lib"]) }

    /// Whether a folder has functions and texts for other programs, such as `nouveau`, `indexes`, `evently` or `templates`.
    static func isForeign(_ folder: [String]) -> Bool {
        guard let top = folder.first else { return false }
        return !["views", "filters", "updates", "shows", "lists", "lib"].contains(top)
    }

    /// The members that `require("…")` names in its text.
    var requiredModules: [[String]] {
        text.matches(of: /require\(\s*["']([^"']+)["']\s*\)/).map { match in
            let name = match.output.1
            var member = name.hasPrefix(".") ? path.dropLast() : []
            for part in name.split(separator: "/") where part != "." {
                if part == ".." { member = member.dropLast() } else { member.append(String(part)) }
            }
            return Array(member)
        }
    }

    /// Whether a member of a design document is a script, which is stored in a `.js` file.
    static func isScript(_ path: [String]) -> Bool {
        isFunction(path) || path.first == "lib" || path.starts(with: ["views", "lib"])
    }
}

/// Checks the scripts of a design document before it is stored.
extension DesignScript {
    /// - Throws: ``CommandError`` with status `refused`, which names each file with an error and the line.
    static func check(_ scripts: [DesignScript]) throws {
        guard !scripts.isEmpty else { return }
        let pool = ScriptPool(OwnProgram.scriptOptions)
        defer { pool.close() }
        let source = ScriptSource(owner: "design", key: "syntax", document: Array("{}".utf8))
        let answers: [[UInt8]]
        do {
            answers = try pool.run(.syntax(scripts.map { ($0.isModule, $0.text) }, in: source))
        } catch let error as ScriptError {
            throw CommandError(error.name, "the scripts could not be checked: \(error.reason)", status: .failure)
        }
        let problems = zip(scripts, answers).compactMap { script, answer -> String? in
            guard let problem = (try? JSONValue(utf8: answer))?.array, problem.count == 2 else { return nil }
            return "\(script.file), line \(problem[1].int ?? 1): \(problem[0].string ?? "it can't be read")"
        }
        guard !problems.isEmpty else { return }
        throw CommandError(
            "compilation_error", "nothing was stored:\n" + problems.joined(separator: "\n"), status: .refused)
    }
}
