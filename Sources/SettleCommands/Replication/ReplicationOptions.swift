internal import Settle

/// The common options of the verbs that replicate: which documents, how often, and the policy for conflicts.
struct ReplicationOptions {
    let arguments: Arguments
    let verb: String

    /// The option for addresses of Couchbase Mobile's protocol.
    static let collection = Option(
        "--collection", value: "SCOPE.NAME", "this collection of a ws:// or wss:// address, instead of the default one")

    /// The options of all verbs that replicate.
    static let options =
        [
            Option("--continuous", short: "-c", "continue until Ctrl-C; changes are replicated as they happen"),
            Option("--id", value: "ID", isRepeatable: true, "only this document"),
            Option("--selector", value: "JSON", "only documents that match this Mango selector"),
            Option("--filter", value: "NAME", "only documents that this filter of the source passes: designdoc/filter"),
            Option("--param", value: "NAME=VALUE", isRepeatable: true, "a parameter of the filter"),
            collection,
            Option("--channel", value: "NAME", isRepeatable: true, "only this channel of a Sync Gateway"),
            Option("--linear", "refuse revisions that would become branches at the target, and list them"),
            Option("--from-start", "ignore the checkpoints, and compare all documents again"),
            Option("--create", "create the database that is written to if it does not exist; with sync either"),
            Option("--no-create", "fail where a missing folder would be created"),
            Option("--events", "write a line for each document"),
        ] + PolicyOptions.options

    /// Whether a missing database at a server is created, too.
    var creates: Bool { arguments.flag("--create") }

    /// Whether a missing folder is created as a database.
    var createsFolder: Bool { !arguments.flag("--no-create") }

    /// Whether checkpoints are discarded.
    var isFromStart: Bool { arguments.flag("--from-start") }

    /// Sets the options that were given.
    func apply(to configuration: inout ReplicationConfiguration) throws {
        configuration.isContinuous = arguments.flag("--continuous")
        configuration.filter = try filter()
        configuration.branching = arguments.flag("--linear") ? .refused : .allowed
        configuration.createsTarget = creates
        if PolicyOptions.areGiven(arguments) {
            configuration.conflictPolicy = try PolicyOptions.policy(arguments, verb: verb)
        }
    }

    /// The filter that selects the documents.
    func filter() throws -> ReplicationFilter {
        let names = ["--id", "--selector", "--filter", "--channel"]
        let given = names.filter { !arguments.texts($0).isEmpty }
        for other in given.dropFirst() { try arguments.refuse(given[0], with: other) }
        if !arguments.texts("--param").isEmpty, given.first != "--filter" {
            throw CommandError.usage("--param needs --filter", verb: verb)
        }
        switch given.first {
        case "--id": return .documents(try arguments.texts("--id").map { try DocumentID(validating: $0) })
        case "--selector": return .selector(try selector(arguments.text("--selector") ?? ""))
        case "--filter": return .named(arguments.text("--filter") ?? "", parameters: try parameters())
        case "--channel": return .channels(arguments.texts("--channel"))
        default: return .all
        }
    }

    private func selector(_ text: String) throws -> MangoSelector {
        do { return try MangoSelector(filter: JSONValue(utf8: Array(text.utf8))) } catch {
            throw CommandError.usage(
                "--selector takes a Mango selector such as {\"type\":\"order\"}: \(error)", verb: verb)
        }
    }

    private func parameters() throws -> [String: JSONValue] {
        var parameters: [String: JSONValue] = [:]
        for text in arguments.texts("--param") {
            guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
                throw CommandError.usage("--param takes NAME=VALUE, not \"\(text)\"", verb: verb)
            }
            parameters[String(text[..<equals])] = .string(String(text[text.index(after: equals)...]))
        }
        return parameters
    }
}
