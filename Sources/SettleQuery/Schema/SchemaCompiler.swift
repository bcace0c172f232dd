import SettleCore

/// Compiles a schema into nodes, one for each subschema.
///
/// It does not recurse: a subschema gets its number immediately and is compiled later. References are resolved
/// after all subschemas are known, because an anchor may come after its use; they may add further subschemas.
struct SchemaCompiler {
    private struct Pending {
        let index: Int
        let schema: JSONValue
        let path: String
        let depth: Int
    }

    private struct Reference {
        let index: Int
        let text: String
        let path: String
    }

    let root: JSONValue
    private let checksFormats: Bool
    private(set) var tracksEvaluated = false
    private var nodes: [SchemaNode] = []
    private var indexes: [ExactText: Int] = [:]
    private var anchors: [ExactText: Int] = [:]
    private var pending: [Pending] = []
    private var references: [Reference] = []
    /// The nesting depth of the schema being compiled.
    private var depth = 0

    init(root: JSONValue, checksFormats: Bool) {
        self.root = root
        self.checksFormats = checksFormats
    }

    /// Compiles everything; the first node is the root.
    mutating func compile() throws(SchemaError) -> [SchemaNode] {
        _ = try node(root, at: "")
        repeat {
            while let next = pending.popLast() { try compile(next) }
            for reference in references { try resolve(reference) }
            references = []
        } while !pending.isEmpty
        try refuseEndlessReferences()
        return nodes
    }

    /// The number of a subschema's node.
    mutating func node(_ schema: JSONValue, at path: String) throws(SchemaError) -> Int {
        if let known = indexes[ExactText(path)] { return known }
        guard depth < JSONLimits.depth else {
            throw SchemaError(.tooDeep, "more than \(JSONLimits.depth) levels of schemas", at: path)
        }
        let index = nodes.count
        nodes.append(SchemaNode())
        indexes[ExactText(path)] = index
        pending.append(Pending(index: index, schema: schema, path: path, depth: depth + 1))
        return index
    }

    private mutating func compile(_ next: Pending) throws(SchemaError) {
        depth = next.depth
        switch next.schema {
        case .bool(let allowsAll): nodes[next.index].isNever = !allowsAll
        case .object(let members):
            for name in members.names { try SchemaKeywords.refuse(name, in: members, at: next.path) }
            for name in ["$anchor", "$dynamicAnchor"] {
                if let value = members[name] { try addAnchor(value, of: next, at: next.path + "/" + name) }
            }
            if let value = members["$ref"] {
                guard case .string(let text) = value else {
                    throw SchemaError(.malformed, "$ref must be a string", at: next.path + "/$ref")
                }
                references.append(Reference(index: next.index, text: text, path: next.path + "/$ref"))
            }
            var keywords = SchemaKeywords(members: members, path: next.path, checksFormats: checksFormats)
            try keywords.compile(&self)
            nodes[next.index].rules = keywords.rules
            nodes[next.index].inPlace += keywords.inPlace
            if members["unevaluatedItems"] != nil || members["unevaluatedProperties"] != nil { tracksEvaluated = true }
        default: throw SchemaError(.malformed, "a schema must be an object or a boolean", at: next.path)
        }
    }

    private mutating func addAnchor(_ value: JSONValue, of next: Pending, at path: String) throws(SchemaError) {
        guard case .string(let name) = value, !name.isEmpty else {
            throw SchemaError(.malformed, "an anchor must be a name", at: path)
        }
        if let other = anchors.updateValue(next.index, forKey: ExactText(name)), other != next.index {
            throw SchemaError(.malformed, "the anchor \"\(name)\" is given twice", at: path)
        }
    }

    private mutating func resolve(_ reference: Reference) throws(SchemaError) {
        var text = Substring(reference.text)
        if let id = root["$id"]?.string, !id.isEmpty, text == id || text.hasPrefix(id + "#") {
            text = text.dropFirst(id.count)
        }
        guard text.isEmpty || text.first == "#" else {
            throw SchemaError(.unsupported, "$ref to another document, \(reference.text)", at: reference.path)
        }
        let missing = SchemaError(.unresolvedReference, "$ref names nothing: \(reference.text)", at: reference.path)
        guard let fragment = SchemaPointer.decodeFragment(text.dropFirst()) else { throw missing }
        let target: Int
        if let tokens = SchemaPointer.tokens(fragment) {
            guard let schema = SchemaPointer.find(tokens, in: root) else { throw missing }
            depth = 0
            target = try node(schema, at: tokens.map { "/" + SchemaPointer.escape($0) }.joined())
        } else {
            guard let index = anchors[ExactText(fragment)] else { throw missing }
            target = index
        }
        nodes[reference.index].reference = target
        nodes[reference.index].inPlace.append(target)
    }

    /// Throws if there are endless references: repeatedly removes nodes that no in-place application leads to; the
    /// remaining nodes form cycles.
    private func refuseEndlessReferences() throws(SchemaError) {
        var incoming = [Int](repeating: 0, count: nodes.count)
        for node in nodes { for target in node.inPlace { incoming[target] += 1 } }
        var free = nodes.indices.filter { incoming[$0] == 0 }
        var removed = 0
        while let index = free.popLast() {
            removed += 1
            for target in nodes[index].inPlace {
                incoming[target] -= 1
                if incoming[target] == 0 { free.append(target) }
            }
        }
        guard removed < nodes.count else { return }
        let path = indexes.filter { incoming[$0.value] > 0 }.map(\.key).min()?.string ?? ""
        throw SchemaError(.endlessReference, "$ref leads back to itself", at: path)
    }
}

/// A compiled schema or subschema.
struct SchemaNode: Sendable {
    /// Whether this is the schema `false`.
    var isNever = false
    /// The target of `$ref`, as an index into all nodes.
    var reference: Int?
    /// The assertions, in the order of the schema's members.
    var rules: [any SchemaRule] = []
    /// The subschemas that are applied to the same value as this one.
    var inPlace: [Int] = []
}

// MARK: - SchemaPointer

/// JSON pointers (RFC 6901) in a schema.
enum SchemaPointer {
    /// A name escaped for a pointer.
    static func escape(_ name: String) -> String {
        var text = ""
        for scalar in name.unicodeScalars {
            switch scalar {
            case "~": text += "~0"
            case "/": text += "~1"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    /// The names and indexes of a pointer; `nil` if it is invalid.
    static func tokens(_ pointer: String) -> [String]? {
        if pointer.isEmpty { return [] }
        guard pointer.utf8.first == UInt8(ascii: "/") else { return nil }
        var tokens: [String] = []
        for part in pointer.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            var bytes: [UInt8] = []
            var rest = part[...]
            while let byte = rest.popFirst() {
                guard byte == UInt8(ascii: "~") else {
                    bytes.append(byte)
                    continue
                }
                switch rest.popFirst() {
                case UInt8(ascii: "0"): bytes.append(UInt8(ascii: "~"))
                case UInt8(ascii: "1"): bytes.append(UInt8(ascii: "/"))
                default: return nil
                }
            }
            tokens.append(String(decoding: bytes, as: UTF8.self))
        }
        return tokens
    }

    /// The part of a value at a pointer.
    static func find(_ tokens: [String], in root: JSONValue) -> JSONValue? {
        var value = root
        for token in tokens {
            let isPlain = token == "0" || !(token.hasPrefix("0") || token.hasPrefix("+"))
            guard let next = value[token] ?? (isPlain ? Int(token).flatMap { value[$0] } : nil) else { return nil }
            value = next
        }
        return value
    }

    /// The text of a URI fragment without its percent escapes; `nil` if one is invalid.
    static func decodeFragment(_ text: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 2, !digits.hasPrefix("+"), let value = UInt8(digits, radix: 16) else {
                return nil
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
