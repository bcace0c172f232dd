import SettleCore

/// Untrusted JSON text, parsed as a document.
enum DocumentTarget {
    static func run(_ bytes: [UInt8]) throws {
        let value = Result { () throws(JSONError) in try JSONValue(utf8: bytes) }
        let wholeDocument = try? DocumentReader.read(bytes, allowsReserved: true)
        let plainDocument = try? DocumentReader.read(bytes, allowsReserved: false)

        let isValid = (try? bytes.withUnsafeBufferPointer { try JSONValue.validate(utf8: $0) }) != nil
        let tree = try? value.get()
        try require(isValid == (tree != nil), "validating and reading agree on what is JSON")
        try require((wholeDocument != nil) == (tree?.object != nil), "a document is a JSON object and nothing else")
        if let tree { try check(tree) }
        guard let wholeDocument else { return try require(plainDocument == nil, "reserved members are more, not less") }
        try require(
            (plainDocument != nil) == wholeDocument.reserved.isEmpty, "only reserved members are refused in a body")
        if let plainDocument {
            try require(plainDocument.body == wholeDocument.body, "a document without reserved members is its body")
        }
        try check(wholeDocument.body, members: tree?.object ?? JSONObject())
        for member in wholeDocument.reserved {
            try require(
                (try? JSONValue(utf8: member.value)) == tree?[member.name], "a reserved value is what the text says")
        }
    }

    /// A value that is printed and parsed again is equal.
    private static func check(_ value: JSONValue) throws {
        let text = value.utf8
        let again = try? JSONValue(utf8: text)
        try require(again == value && again?.utf8 == text, "a value that is written reads to itself")
    }

    private static func check(_ body: DocumentBody, members: JSONObject) throws {
        guard let again = try? DocumentReader.read(body.utf8, allowsReserved: false).body else {
            throw FuzzFailure("a body that is written can be read")
        }
        try require(again.utf8 == body.utf8, "a body that is written reads to itself, byte for byte")
        let hasher = RevisionHasher()
        try require(
            hasher.revision(of: body) == hasher.revision(of: again), "a body that is read again hashes the same")
        let stored = DocumentBody(unchecked: body.utf8)
        try require(hasher.revision(of: body) == hasher.revision(of: stored), "a stored body hashes the same")
        let tree = body.json.object ?? JSONObject()
        for member in tree.prefix(20) {
            try require(body[member.name] == member.value, "a member is found as the whole value has it")
            try require(members[member.name] == member.value, "a body has the members of the text")
        }
        try require(body["no such member \u{0}"] == tree["no such member \u{0}"], "what is not there is not found")
    }
}
