internal import Settle

/// A full-text search at a server, in a text index of a design document there.
struct ServerSearch {
    let client: Client
    let invocation: Invocation

    /// Searches, and prints the results.
    func run() throws {
        let (arguments, console) = (invocation.arguments, invocation.console)
        for option in ["--in", "--words"] where arguments.isGiven(option) {
            throw CommandError.usage(
                "\(option) is for folders; at a server the index determines fields and analyzer", verb: "search")
        }
        let (isCounting, isShort) = (arguments.flag("--count"), arguments.flag("--ids"))
        var request: JSONObject = [
            "selector": ["$text": .string(try arguments.operand("TEXT"))],
            "limit": .number(JSONNumber(isCounting ? Int(Int32.max) : try arguments.count("--limit") ?? 20)),
        ]
        request["skip"] = try arguments.count("--skip").map { .number(JSONNumber($0)) }
        request["use_index"] = FindQuery.index(arguments)
        if isCounting || isShort { request["fields"] = ["_id"] }
        try check(request)
        var count = 0
        _ = try client.find(request) { text in
            count += 1
            if !isCounting { try write(JSONValue(utf8: text), isShort: isShort) }
            return true
        }
        if isCounting { return try console.print(String(count), json: ["count": .number(JSONNumber(count))]) }
        if count == 0 { try console.note("Nothing found") }
    }

    /// Checks that there is a text index, because without one CouchDB returns all documents.
    private func check(_ request: JSONObject) throws {
        let plan: JSONValue
        do { plan = try client.explain(request) } catch let error as CommandError where error.code == "not_supported" {
            throw missing
        }
        guard let type = plan["index"]?["type"]?.string, ["text", "nouveau"].contains(type) else { throw missing }
    }

    private var missing: CommandError {
        CommandError(
            "no_usable_index",
            "\(client.name) has no text index; `settle index create \(client.name) --text` creates one",
            status: .refused)
    }

    private func write(_ document: JSONValue, isShort: Bool) throws {
        let console = invocation.console
        let id = document["_id"]?.string ?? ""
        if console.isJSON {
            let line: JSONValue = isShort ? ["id": .string(id)] : ["id": .string(id), "doc": document]
            return try console.print(line.description)
        }
        if isShort { return try console.print(id) }
        try console.print(console.styled(TextWidth.harmless(id), .bold))
        let members = (document.object ?? JSONObject()).filter { !["_id", "_rev", "_attachments"].contains($0.name) }
        let text = members.map { "\($0.name): \($0.value.string ?? $0.value.description)" }.joined(separator: ", ")
        let line = Grid.wrapped(text.replacing("\n", with: " "), width: max(console.width - 4, 8), limit: 1)
        try console.print("    " + line.joined())
    }
}
