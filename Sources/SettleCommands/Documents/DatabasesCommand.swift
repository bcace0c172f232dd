internal import Foundation
internal import Settle
internal import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform
internal import SettleServer

/// `settle databases`: lists the databases of a server or a folder.
enum DatabasesCommand: Command {
    static let spec = CommandSpec(
        "databases", "list the databases of a server or a folder, with counts and sizes",
        discussion: """
            PLACE is the URL of a server, or a folder that has databases in it. Databases whose names begin with _ are the \
            server's own; --all lists them too. A database that can't be read, because another process has it open or it is \
            damaged, is listed with the reason, and the exit code is 1. Those that a server keeps from this user are named on \
            standard error.
            """,
        operands: [
            Operand("PLACE", isOptional: true, takesURL: true, "the URL of a server, or a folder (default: this one)")
        ],
        options: [Option("--all", "list the server's own databases, too"), .wait],
        examples: [
            CommandSpec.Example("settle databases", "the databases in this folder"),
            CommandSpec.Example("settle databases http://admin@127.0.0.1:5984 --all", "all of a server"),
            CommandSpec.Example("settle databases data --json", "for a script, one line each"),
        ],
        json: """
            one line each: {"name":…,"doc_count":N,"doc_del_count":N,"size":N} with the size in bytes; of one that can't be \
            read {"name":…,"error":code,"message":text}
            """)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let place = invocation.arguments.optionalOperand("PLACE") ?? "."
        let isServer = Invocation.isURL(place)
        let list: any ListedPlace =
            isServer ? try ServerSource(place, invocation) : try FolderSource(place, invocation)
        let showsAll = invocation.arguments.flag("--all")
        let names = try list.names().filter { showsAll || !$0.hasPrefix("_") }
        let console = invocation.console
        var table = RowTable(console, titles: ["NAME", "DOCUMENTS", "DELETED", "SIZE"])
        var (isWhole, refused) = (true, [String]())
        try list.forEach(names) { name, result in
            switch result {
            case .success(let info):
                let row = Row(name: name, info: info)
                if console.isJSON { try console.print(row.json.description) } else { try table.add(row.cells) }
            case .failure(let failure) where isServer && failure.status == .refused:
                refused.append(name)
            case .failure(let failure):
                isWhole = false
                let json: JSONValue = [
                    "name": .string(name), "error": .string(failure.code), "message": .string(failure.message),
                ]
                let words = failure.status == .inUse ? "in use by another process" : failure.message
                if console.isJSON { try console.print(json.description) } else { try table.add([name, words, "", ""]) }
            }
        }
        try table.finish()
        if names.isEmpty { try console.printNote("No database") }
        if !refused.isEmpty, !console.isQuiet {
            let text = "not readable for this user: \(refused.joined(separator: ", "))"
            console.complain("settle: \(text)", json: ["warning": .string(text)])
        }
        return isWhole ? .success : .failure
    }
}

/// The line of a database.
private struct Row {
    let name: String
    let info: JSONValue

    private var size: Int { info["sizes"]?["file"]?.int ?? info["disk_size"]?.int ?? 0 }

    var cells: [String] {
        [
            name, Quantity.grouped(info["doc_count"]?.int ?? 0), Quantity.grouped(info["doc_del_count"]?.int ?? 0),
            Quantity.bytes(Int64(size)),
        ]
    }

    var json: JSONValue {
        var json: JSONValue = ["name": .string(name)]
        for member in ["doc_count", "doc_del_count"] { json[member] = info[member] }
        json["size"] = .number(JSONNumber(size))
        return json
    }
}

// MARK: - ListedPlace

/// A place with databases.
private protocol ListedPlace {
    /// The names of the databases, sorted.
    func names() throws -> [String]

    /// Passes each database to a closure: what it says of itself, or why it does not.
    func forEach(_ names: [String], _ body: (String, Result<JSONValue, CommandError>) throws -> Void) throws
}

/// A server.
private struct ServerSource: ListedPlace {
    private let client: Client

    init(_ place: String, _ invocation: Invocation) throws {
        client = try Client(server: HTTPURL(place), arguments: invocation.arguments, console: invocation.console)
    }

    func names() throws -> [String] {
        let answer: JSONValue
        do { answer = try client.serverJSON("_all_dbs") } catch let error as CommandError
            where error.status == .notFound
        {
            throw CommandError.notFound(
                "\(client.url.parent) is not the root of a server; leave out the name of the database")
        }
        return (answer.array ?? []).compactMap(\.string).sorted()
    }

    func forEach(_ names: [String], _ body: (String, Result<JSONValue, CommandError>) throws -> Void) throws {
        // CouchDB refuses more.
        let most = 100
        var rest = names[...]
        while !rest.isEmpty {
            let some = Array(rest.prefix(most))
            rest = rest.dropFirst(most)
            for (name, info) in zip(some, try infos(of: some)) { if let info { try body(name, info) } }
        }
    }

    /// What the server says of each database, or why it does not; `nil` for one that was deleted meanwhile.
    private func infos(of names: [String]) throws -> [Result<JSONValue, CommandError>?] {
        do {
            let answer = try client.serverJSON(
                "_dbs_info", method: "POST", body: ["keys": .array(names.map { .string($0) })])
            return (answer.array ?? []).map(Self.info)
        } catch let error as CommandError where error.status != .inputOutput {
            // PouchDB Server has no such call, and CouchDB answers it to administrators only.
            return try names.map { name in
                try Interruption.check()
                do { return .success(try client.serverJSON(HTTPPath(segments: [name]))) } catch let error
                    as CommandError
                {
                    switch error.status {
                    case .notFound: return nil
                    case .refused: return .failure(error)
                    default: throw error
                    }
                }
            }
        }
    }

    /// What a row of `_dbs_info` says.
    private static func info(_ row: JSONValue) -> Result<JSONValue, CommandError>? {
        if let info = row["info"] { return .success(info) }
        let error = row["error"]?.string ?? "bad_answer"
        switch error {
        case "not_found": return nil
        case "forbidden", "unauthorized": return .failure(CommandError(error, error, status: .refused))
        default:
            let reason = row["reason"]?.string ?? "the server does not say what it holds: \(error)"
            return .failure(CommandError(error, reason, status: .failure))
        }
    }
}

/// A folder of databases, each a folder.
private struct FolderSource: ListedPlace {
    private let place: String
    private let invocation: Invocation

    init(_ place: String, _ invocation: Invocation) throws {
        if let option = RemoteOptions.options.map(\.name).first(where: invocation.arguments.isGiven) {
            throw CommandError.usage("\(option) is for URLs, and \(place) is a folder", verb: "databases")
        }
        guard FileStatus(path: place)?.isFolder == true else {
            throw CommandError.notFound("there is no folder \(place)")
        }
        if FileStatus(path: place + "/database.sqlite") != nil {
            throw CommandError.usage(
                "\(place) is a database; give the folder that it is in, or see `settle info`", verb: "databases")
        }
        (self.place, self.invocation) = (place, invocation)
    }

    func names() throws -> [String] {
        try DatabaseFolders.names(in: place).map { DatabaseFolders.name(of: $0) }.sorted()
    }

    func forEach(_ names: [String], _ body: (String, Result<JSONValue, CommandError>) throws -> Void) throws {
        let folders = try Dictionary(
            DatabaseFolders.names(in: place).map { (DatabaseFolders.name(of: $0), $0) },
            uniquingKeysWith: { first, _ in first })
        for name in names {
            try Interruption.check()
            let path = "\(place)/\(folders[name] ?? name)"
            do { try body(name, .success(info(path))) } catch {
                let failure = CommandError(error)
                if [.interrupted, .outputClosed].contains(failure.status) { throw failure }
                try body(name, .failure(failure))
            }
        }
    }

    private func info(_ path: String) throws -> JSONValue {
        var options = DatabaseOptions()
        options.warn = { _ in }
        let database = try invocation.waiting { try Database.open(path, options: options) }
        defer { invocation.close(database) }
        let server = try InProcessServer(database, path: path, console: invocation.console)
        return try Client(server, path: path, console: invocation.console).info()
    }
}

// MARK: - DatabaseFolders

/// The folders of databases that are in a folder.
enum DatabaseFolders {
    /// The names of the folders that have a database, in no order.
    static func names(in place: String) throws -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: place).filter { name in
                !name.hasPrefix(".") && FileStatus(path: "\(place)/\(name)/database.sqlite") != nil
            }
        } catch { throw CommandError.inputOutput("can't list the folder \(place)") }
    }

    /// Checks that a server of a folder would have all databases in it.
    ///
    /// - Parameters:
    ///   - place: The folder.
    ///   - outcome: What was not done, such as `nothing was backed up`.
    ///   - otherwise: What can be done with a database without renaming its folder.
    /// - Throws: ``CommandError`` with status `refused`, which names the folders of the other databases.
    static func checkNames(in place: String, _ outcome: String, otherwise: String) throws {
        let others = try names(in: place).filter { folder in
            DocumentStore.name(ofFolder: folder).map { !DocumentStore.isName($0) } ?? true
        }
        guard !others.isEmpty else { return }
        throw CommandError.invalid(
            """
            \(outcome): \(place) has databases that a server of it would not find: \
            \(others.sorted().joined(separator: ", ")); rename each of these folders to NAME.settle, where NAME begins \
            with a lower-case letter, and has only those, digits, and any of _ $ ( ) + -; or \(otherwise)
            """)
    }

    /// The name of a database, as the server of its folder calls it.
    static func name(of folder: String) -> String { DocumentStore.name(ofFolder: folder) ?? folder }
}
