public import SettleDatabase

/// An error of a query or of the creation of an index, in CouchDB's wording.
///
///     do { _ = try database.find(everything.sorted(by: "age")) } catch let error as QueryError { print(error) }
///     // no_usable_index: No index exists for this sort, try indexing by the sort fields.
public struct QueryError: SettleError, Hashable, Sendable {
    /// The kinds of failure, by CouchDB's names; more may be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The name that CouchDB returns as `error`.
        public let name: String

        /// No index has the requested order, or there is no text index for `$text`.
        public static let noUsableIndex = Code(name: "no_usable_index")
        /// The requested index does not exist or does not fit, or a definition is invalid.
        public static let invalidIndex = Code(name: "invalid_index")
        /// Several text indexes with different results could answer; the query must name one.
        public static let multipleTextIndexes = Code(name: "multiple_text_indexes")
        /// The search of `$text` is invalid.
        public static let textSearch = Code(name: "text_search_error")
        /// The query exceeds its limits; an index, a narrower range or a simpler pattern helps.
        public static let tooExpensive = Code(name: "query_too_expensive")
        /// The bookmark is invalid.
        public static let invalidBookmark = Code(name: "invalid_bookmark")
        /// The fields of a text index are invalid.
        public static let invalidFieldsDefinition = Code(name: "invalid_index_fields_definition")
        /// A member has no effect.
        public static let invalidKey = Code(name: "invalid_key")
        /// Results can be sorted in only one direction.
        public static let mixedSort = Code(name: "unsupported_mixed_sort")
        /// A sort field is not a member.
        public static let invalidSortField = Code(name: "invalid_sort_field")
        /// A design document has another language, and can't have indexes.
        public static let invalidLanguage = Code(name: "invalid_ddoc_lang")
        /// A design document has another option `partitioned`.
        public static let invalidPartitionedOption = Code(name: "invalid_partitioned_option")
        /// A condition, an order or an index uses a property whose field is unknown (``Queryable``). CouchDB has no
        /// such error.
        public static let unknownField = Code(name: "unknown_field")
        /// A condition can't be expressed as a selector. CouchDB has no such error.
        public static let unsupportedCondition = Code(name: "unsupported_condition")

        private init(name: String) { self.name = name }

        /// The code's name.
        public var description: String { name }
    }

    /// The kind of failure.
    public let code: Code
    /// The description that CouchDB returns as `reason`.
    public let reason: String

    package init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// The code and the reason.
    public var description: String { "\(code): \(reason)" }
}
