/// Why a query can't be asked, or an index can't be made, in CouchDB's words.
///
///     do { _ = try database.find(everything.sorted(by: "age")) } catch let error as QueryError { print(error) }
///     // no_usable_index: No index exists for this sort, try indexing by the sort fields.
public struct QueryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure, by CouchDB's names; more may be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name that CouchDB answers as `error`.
        public let name: String

        /// No index serves the order that is asked for, or there is none of texts for `$text`.
        public static let noUsableIndex = Code(name: "no_usable_index")
        /// The index that is asked for is not there, does not fit, or its definition is none.
        public static let invalidIndex = Code(name: "invalid_index")
        /// Several indexes of texts could answer, which would not find the same; the query has to name one.
        public static let multipleTextIndexes = Code(name: "multiple_text_indexes")
        /// What `$text` looks for can't be understood.
        public static let textSearch = Code(name: "text_search_error")
        /// The bookmark is none.
        public static let invalidBookmark = Code(name: "invalid_bookmark")
        /// The fields of an index of texts are none.
        public static let invalidFieldsDefinition = Code(name: "invalid_index_fields_definition")
        /// There is a member that says nothing.
        public static let invalidKey = Code(name: "invalid_key")
        /// Results are sorted in one direction only.
        public static let mixedSort = Code(name: "unsupported_mixed_sort")
        /// What to sort by is no member.
        public static let invalidSortField = Code(name: "invalid_sort_field")
        /// A design document is of another language, and can't have indexes.
        public static let invalidLanguage = Code(name: "invalid_ddoc_lang")
        /// A design document says something else about partitions.
        public static let invalidPartitionedOption = Code(name: "invalid_partitioned_option")
        /// A condition names a property for which the model has no member's name (``Queryable/fieldNames``). CouchDB has no
        /// such failure.
        public static let unknownField = Code(name: "unknown_field")

        private init(name: String) { self.name = name }

        /// The code's name.
        public var description: String { name }
    }

    /// What kind of failure it is.
    public let code: Code
    /// What is wrong, in the sentence that CouchDB answers as `reason`.
    public let reason: String

    package init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// The code and the reason.
    public var description: String { "\(code): \(reason)" }
}
