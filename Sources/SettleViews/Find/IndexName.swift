package import SettleCore
internal import SettleCrypto
internal import SettlePlatform

/// The name that CouchDB gives an unnamed index: a hash of its definition.
///
///     sha1(term_to_binary({Definition, [{ddoc, D}, {def, Definition}, {name, N}, {partitioned, P}, {type, T}, {w, W}]}))
///
/// So an index that is created independently on two servers becomes the same document.
package enum IndexName {
    /// Derives the name.
    ///
    /// - Parameters:
    ///   - definition: The index's definition as given.
    ///   - type: The kind of index, by CouchDB's name.
    ///   - designDocument: The design document's name as given, if any.
    ///   - name: The index's name, if given.
    ///   - isPartitioned: The value of `partitioned`, if given.
    ///   - copies: The value of CouchDB's `w`, the number of copies.
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
        let digest = SHA1.hash(ErlangTerm.tuple([.members(definition), .list(options)]).bytes)
        return Hexadecimal.encode(digest)
    }
}
