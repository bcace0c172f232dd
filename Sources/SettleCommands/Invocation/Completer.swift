internal import Foundation
internal import Settle
import SettleCore
import SettleDatabase
internal import SettleHTTP
internal import SettlePlatform

/// Finds the words that fit at the end of a command line, for Tab in `settle shell` and for the completions of shells.
struct Completer {
    /// The words that fit in the place of the last word.
    struct Completion {
        /// The part of the line that they stand for, as it was typed.
        var typed: Substring
        /// The words, sorted, without quotes. One that ends with `/` or `=` may be continued.
        var words: [String] = []
    }

    /// The values that an operand or an option takes.
    private enum Kind {
        case words([String])
        case database, file, document, revision, attachment, index, view, design, mergeRule
        case other
    }

    /// The shell, whose lines leave out the database; `nil` for a command line.
    var session: ShellSession?
    /// Whether only values are wanted: completions of shells know the commands and options.
    var isForValues = false
    /// A console that neither warns nor asks for a password, because a line is being typed.
    private static var console: Console { Console(isJSON: true, isQuiet: true, errors: -1) }
    /// The maximum number of words.
    private static let most = 200

    /// The words that fit at the end of a line; a command line begins with the name of the tool.
    func complete(_ line: String) -> Completion {
        var (words, last) = ShellWords.scan(line)
        guard let start = last.start else { return Completion(typed: line[line.endIndex...]) }
        var completion = Completion(typed: line[start...])
        let text = last.text ?? ""
        if session == nil {
            if words.isEmpty { return completion }
            words.removeFirst()
        }
        let found = (try? self.words(for: text, after: words)) ?? []
        completion.words = Array(Set(found.filter { $0.hasPrefix(text) })).sorted()
        if completion.words.count > Self.most { completion.words = Array(completion.words.prefix(Self.most)) }
        return completion
    }

    private func words(for text: String, after words: [String]) throws -> [String] {
        guard let verb = words.firstIndex(where: { !$0.hasPrefix("-") }) else {
            let names = CommandList.specs.map(\.name) + (session == nil ? [] : ["exit"])
            return isForValues ? [] : names + Option.common.map(\.name)
        }
        guard let spec = CommandList.specs.first(where: { $0.name == words[verb] }) else { return [] }
        var rest = words
        rest.remove(at: verb)
        var (operands, option, takesOptions) = ([String](), Option?.none, true)
        for word in rest {
            if option != nil {
                option = nil
            } else if takesOptions, word == "--" {
                takesOptions = false
            } else if takesOptions, word.hasPrefix("-"), word != "-" {
                option = word.contains("=") ? nil : spec.allOptions.first { $0.isNamed(word) && $0.value != nil }
            } else {
                operands.append(word)
            }
        }
        if let option {
            rest.removeLast()
            return try values(of: kind(of: option), text, spec, rest)
        }
        guard takesOptions, text.hasPrefix("-") else {
            guard let kind = kind(ofOperandAfter: operands, of: spec) else { return [] }
            return try values(of: kind, text, spec, rest)
        }
        guard let equals = text.firstIndex(of: "=") else { return isForValues ? [] : spec.allOptions.map(\.name) }
        let name = String(text[..<equals])
        guard let option = spec.allOptions.first(where: { $0.isNamed(name) }) else { return [] }
        let value = String(text[text.index(after: equals)...])
        return try values(of: kind(of: option), value, spec, rest).map { "\(name)=\($0)" }
    }

    private func kind(of option: Option) -> Kind {
        switch (option.name, option.value) {
        case (_, "POLICY"): .words(ReadyPolicy.all.map(\.name))
        case (_, "RULE"): .words(ReadyRule.all.map(\.name))
        case (_, "PATH=RULE"): .mergeRule
        case (_, "SHELL"): .words(CompletionScript.allCases.map(\.rawValue))
        case (_, "on|off"): .words(["on", "off"])
        case (_, "REV"): .revision
        case ("--use-index", _): .index
        case ("--ddoc", _): .design
        case ("--attachment", _): .attachment
        case (_, "FILE"), (_, "DIR"): .file
        default: .other
        }
    }

    /// The kind of the operand that follows some operands; `nil` if there are no more.
    private func kind(ofOperandAfter given: [String], of spec: CommandSpec) -> Kind? {
        let operands = spec.operands.filter { session == nil || $0.name != "DB" }
        guard let operand = given.count < operands.count ? operands[given.count] : operands.last,
            given.count < operands.count || operand.isRepeatable
        else { return nil }
        if !operand.words.isEmpty { return .words(operand.words) }
        switch (spec.name, operand.name) {
        case ("help", _): return .words(CommandList.specs.map(\.name) + HelpCommand.topics)
        case ("index", "NAME"): return given.first == "create" ? .other : .index
        case ("design", "NAME"): return given.first == "push" ? .file : .design
        case ("detach", "NAME"): return .attachment
        case ("create", "DB"), ("databases", _): return .file
        case (_, "DB"), (_, "OTHER"), (_, "SOURCE"), (_, "TARGET"): return .database
        case (_, "ID"): return .document
        case (_, "REV"), (_, "REV2"): return .revision
        case (_, "VIEW"): return .view
        case (_, "FILE"), (_, "DIR"), (_, "FOLDER"): return .file
        default: return .other
        }
    }
}

/// The values.
extension Completer {
    private func values(of kind: Kind, _ text: String, _ spec: CommandSpec, _ words: [String]) throws -> [String] {
        func withClient(_ body: (Client) throws -> [String]) throws -> [String] {
            let arguments = try ArgumentParser(spec: spec, database: session?.operand).parse(words)
            let invocation = Invocation(arguments: arguments, console: Self.console, session: session) { _, _ in
                .failure
            }
            // One that another process has open is not waited for.
            return try invocation.withClient(warns: false, body)
        }
        func ofDocument(_ body: (DocumentState) -> [String]) throws -> [String] {
            let arguments = try ArgumentParser(spec: spec, database: session?.operand).parse(words)
            // `settle diff` has it in the place of another database.
            let id = try arguments.optionalOperand("ID") ?? arguments.operand("OTHER")
            return try withClient { body(try $0.state(of: DocumentID(validating: id), .stored)) }
        }
        switch kind {
        case .words(let words): return words
        case .other: return []
        case .file: return isForValues ? [] : Self.files(text) { _ in true }
        case .database: return try databases(text)
        case .mergeRule:
            guard let equals = text.lastIndex(of: "=") else { return [] }
            return ReadyRule.all.map { text[...equals] + $0.name }
        case .document: return try withClient { try $0.documentIDs(from: text, limit: Self.most) }
        case .revision:
            return try ofDocument { state in
                state.tree.allNodes.filter { $0.bodyToken != BodyToken.none }.map(\.revision.description)
            }
        case .attachment: return try ofDocument { $0.attachments.map(\.name) }
        case .index:
            return try withClient { client in
                try client.indexes().filter { $0.designDocument != nil }.flatMap { index in
                    spec.name == "index"
                        ? [index.name, "\(index.designName)/\(index.name)"]
                        : [index.designName, "\(index.designName)/\(index.name)"]
                }
            }
        case .design:
            return try withClient { client in
                try client.documentIDs(from: "_design/", limit: Self.most).map(ViewName.designName)
            }
        case .view:
            return try withClient { client in
                var views: [String] = []
                var range = DocumentRange()
                range.from = DocumentID(unchecked: "_design/")
                range.through = DocumentID(unchecked: "_design/\u{10FFFF}")
                try client.forEachDocument(in: range, limit: Self.most, withBodies: true) { document in
                    let names = (document["views"]?.object ?? JSONObject()).names.filter { $0 != "lib" }
                    views += names.map { "\(ViewName.designName(document.id.string))/\($0)" }
                    return true
                }
                return views
            }
        }
    }

    /// The databases at a server, or the folders of databases and those on the way to them.
    private func databases(_ text: String) throws -> [String] {
        guard Invocation.isURL(text) else {
            return Self.files(text) { FileStatus(path: $0)?.isFolder == true }
        }
        guard let slash = text.lastIndex(of: "/"), !text[..<slash].hasSuffix("/") else { return [] }
        let server = String(text[..<slash])
        let client = try Client(server: HTTPURL(server), arguments: Arguments(verb: "databases"), console: Self.console)
        return (try client.serverJSON("_all_dbs").array ?? []).compactMap(\.string).map { name in
            "\(server)/\(HTTPPath(segments: [name]).encoded)"
        }
    }

    /// Files that begin with a text. Folders end with a slash, unless they are databases.
    private static func files(_ text: String, _ isWanted: (String) -> Bool) -> [String] {
        let folder = text.lastIndex(of: "/").map { String(text[...$0]) } ?? ""
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder)) ?? []
        let base = text.dropFirst(folder.count)
        return names.filter { $0.hasPrefix(base) && ($0.hasPrefix(".") ? base.hasPrefix(".") : true) }.compactMap {
            name in
            let path = folder + name
            guard isWanted(path) else { return nil }
            let isPlainFolder =
                FileStatus(path: path)?.isFolder == true && FileStatus(path: path + "/database.sqlite") == nil
            return isPlainFolder ? path + "/" : path
        }
    }

    /// Prints the values that fit at the end of a command line, one a line. Completion scripts ask for them this way.
    static func printValues(_ line: String) {
        // A server that does not answer must not keep the person at the keyboard waiting.
        alarm(3)
        let words = Completer(isForValues: true).complete(line).words
        let output = ByteOutput(descriptor: STDOUT_FILENO)
        try? output.write(words.filter { !$0.contains(where: \.isNewline) }.map { $0 + "\n" }.joined())
        try? output.flush()
    }
}

extension Client {
    /// The ids of documents that begin with a text; of design documents only if the text begins so.
    fileprivate func documentIDs(from text: String, limit: Int) throws -> [String] {
        var ids: [String] = []
        var range = DocumentRange()
        range.from = DocumentID(unchecked: text)
        range.through = DocumentID(unchecked: text + "\u{10FFFF}")
        try forEachDocument(in: range, limit: limit, withBodies: false) { document in
            ids.append(document.id.string)
            return true
        }
        return ids.filter { !$0.hasPrefix("_") || text.hasPrefix("_") }
    }
}
