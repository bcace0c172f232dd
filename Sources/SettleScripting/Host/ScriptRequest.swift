internal import SettleCore

/// A request to a worker.
public struct ScriptRequest: Sendable {
    let source: ScriptSource
    let command: ScriptCommand
    let items: [[UInt8]]

    /// Runs all map functions over documents.
    ///
    /// The answer has an item per document: a JSON array with a list of `[key, value]` for each function.
    public static func map(_ documents: [[UInt8]], by source: ScriptSource) -> ScriptRequest {
        ScriptRequest(source: source, command: .map, items: documents)
    }

    /// Checks that functions compile, before a design document is stored.
    ///
    /// - Parameters:
    ///   - functions: For each function its kind, `map` or `reduce`, the name of its view, and its source.
    ///   - source: The context to compile them in.
    /// - Returns: The request; its answer is empty.
    public static func check(
        _ functions: [(kind: String, view: String, source: String)], in source: ScriptSource
    ) -> ScriptRequest {
        let items = functions.map { JSONValue.array([.string($0.kind), .string($0.view), .string($0.source)]).utf8 }
        return ScriptRequest(source: source, command: .check, items: items)
    }

    /// Checks the syntax of sources that are not stored yet; modules are not run.
    ///
    /// The answer has an item per source: `1`, or an array with the error message and its line.
    ///
    /// - Parameters:
    ///   - sources: The sources, each a function or a module.
    ///   - source: The context to compile them in.
    /// - Returns: The request.
    public static func syntax(
        _ sources: [(isModule: Bool, text: String)], in source: ScriptSource
    ) -> ScriptRequest {
        let items = sources.map { JSONValue.array([$0.isModule ? "module" : "function", .string($0.text)]).utf8 }
        return ScriptRequest(source: source, command: .syntax, items: items)
    }

    /// Reduces rows, or rereduces values.
    ///
    /// The answer has an item per input: an array with the value of each function.
    ///
    /// - Parameters:
    ///   - inputs: Each an array of `[[key, id], value]`, or of values for a rereduce.
    ///   - functions: The reduce functions.
    ///   - again: Whether to rereduce results of the functions.
    ///   - source: The context to run them in.
    /// - Returns: The request.
    public static func reduce(
        _ inputs: [[UInt8]], by functions: [String], again: Bool, in source: ScriptSource
    ) -> ScriptRequest {
        let head: JSONValue = ["functions": .array(functions.map { .string($0) }), "again": .bool(again)]
        return ScriptRequest(source: source, command: .reduce, items: [head.utf8] + inputs)
    }

    /// Runs the validation function of a design document.
    ///
    /// The answer has an item per document: `1`, or the thrown value as JSON.
    ///
    /// - Parameters:
    ///   - documents: Each an array: the new document, and the old one or null.
    ///   - user: The user context and the security object, as an array. It is sent once for many documents.
    ///   - source: The design document.
    /// - Returns: The request.
    public static func validate(
        _ documents: [[UInt8]], of user: [UInt8], by source: ScriptSource
    ) -> ScriptRequest {
        ScriptRequest(source: source, command: .validate, items: [user] + documents)
    }

    /// Runs a filter function on documents; the answer has `1` or `0` for each.
    public static func filter(
        _ documents: [[UInt8]], by name: String, request: [UInt8], of source: ScriptSource
    ) -> ScriptRequest {
        ScriptRequest(source: source, command: .filter, items: [Array(name.utf8), request] + documents)
    }

    /// Checks whether a view's map function emits anything for documents; the answer has `1` or `0` for each.
    public static func filter(
        _ documents: [[UInt8]], byView name: String, of source: ScriptSource
    ) -> ScriptRequest {
        ScriptRequest(source: source, command: .filterByView, items: [Array(name.utf8)] + documents)
    }

    /// Runs an update function; the answer is an array: the document to store or null, and the response.
    public static func update(
        _ document: [UInt8]?, by name: String, request: [UInt8], of source: ScriptSource
    ) -> ScriptRequest {
        ScriptRequest(
            source: source, command: .update, items: [Array(name.utf8), document ?? Array("null".utf8), request])
    }

    /// Runs functions that are not stored on samples, within the time of one function.
    ///
    /// The answer is one object: `rows` with `[id, key, value]`, `results` with `id` and either `passes` or `refusal` (the thrown
    /// value in an array, or null), `reduced` with one value, `errors` with `error`, `reason`, `line` and either `id` or
    /// `function`, `log` with at most 100 lines, and the number of samples `tried`: none after 10,000 rows.
    ///
    /// - Parameters:
    ///   - functions: Sources by their kinds: `map` and maybe `reduce`, or `filter`, or `validate_doc_update`.
    ///   - context: An object with `user` and `security` for a validation function, and `request` for a filter.
    ///   - samples: An array of arrays: a document, and for a validation function the stored one or null.
    ///   - source: The context to run them in: the modules that `require` finds.
    /// - Returns: The request.
    public static func trial(
        _ functions: [UInt8], context: [UInt8], samples: [UInt8], in source: ScriptSource
    ) -> ScriptRequest {
        ScriptRequest(source: source, command: .trial, items: [functions, context, samples])
    }
}

// MARK: - ScriptSource

/// The scripts of a context. Workers keep contexts while there is room.
public struct ScriptSource: Sendable {
    /// The database that the scripts belong to. Databases share no contexts, and take turns.
    public let owner: String
    /// Identifies it among those of the owner; changes with the scripts.
    public let key: String
    /// The JSON for the prelude's `load`.
    let json: [UInt8]

    /// The functions of a design document.
    ///
    /// - Parameters:
    ///   - owner: The database.
    ///   - key: The document's id and revision.
    ///   - json: The document with its members.
    public init(owner: String, key: String, document json: [UInt8]) {
        self.owner = owner
        self.key = "d " + key
        self.json = json
    }

    /// The functions of views.
    ///
    /// - Parameters:
    ///   - owner: The database.
    ///   - key: The signature of the views.
    ///   - maps: The map functions, in order.
    ///   - library: The modules that they may require as `views/lib/…`.
    public init(owner: String, key: String, maps: [String], library: [UInt8]?) {
        self.owner = owner
        self.key = "v " + key
        var json = Array("{\"maps\":[".utf8)
        for (index, map) in maps.enumerated() {
            if index > 0 { json.append(UInt8(ascii: ",")) }
            JSONValue.append(map, to: &json)
        }
        json += Array("],\"lib\":".utf8) + (library ?? Array("null".utf8)) + Array("}".utf8)
        self.json = json
    }
}
