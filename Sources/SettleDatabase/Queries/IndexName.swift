package import RevisionTree
internal import SettlePlatform

/// The name that CouchDB gives an index for which none was said: a hash of what was said.
///
///     sha1(term_to_binary({Definition, [{ddoc, D}, {def, Definition}, {name, N}, {partitioned, P}, {type, T}, {w, W}]}))
///
/// So an index that is made twice, on two servers that never met, is one document.
package enum IndexName {
    /// The name.
    ///
    /// - Parameters:
    ///   - definition: The index's definition as it was given.
    ///   - type: The kind of index, by CouchDB's name.
    ///   - designDocument: The design document's name as it was given, if it was.
    ///   - name: The index's name, if one was given.
    ///   - isPartitioned: What was said of partitions, if anything.
    ///   - copies: How many copies were asked for, which CouchDB's `w` says.
    /// - Returns: Forty hexadecimal digits.
    package static func derived(
        of definition: DocumentBody, type: String = "json", designDocument: String? = nil, name: String? = nil,
        isPartitioned: Bool? = nil,
        copies: Int32 = 2
    ) -> String {
        func given(_ text: String?) -> ErlangTerm { text.map { .binary($0) } ?? .atom("auto_name") }
        let partitioned = isPartitioned.map { $0 ? "true" : "false" } ?? "db_default"
        let options: [ErlangTerm] = [
            .tuple([.atom("ddoc"), given(designDocument)]), .tuple([.atom("def"), .members(definition)]),
            .tuple([.atom("name"), given(name)]), .tuple([.atom("partitioned"), .atom(partitioned)]),
            .tuple([.atom("type"), .binary(type)]), .tuple([.atom("w"), .integer(copies)]),
        ]
        let digest = HashFunction.sha1.hash(ErlangTerm.tuple([.members(definition), .list(options)]).bytes)
        return Hexadecimal.encode(digest)
    }
}
