import SettleCore
public import SettleDatabase
public import SettleQuery

extension Database {
    /// Creates an index for queries, unless it exists already.
    ///
    ///     try database.createIndex(on: "city", "age")
    ///     try database.createIndex(on: "due", partialFilter: MangoSelector(["done": false]), designDocument: "open")
    ///
    /// Its definition is written into a design document, in CouchDB's format, and so replicates. The index is built
    /// at its first use.
    ///
    /// - Parameters:
    ///   - fields: The members it is ordered by, all in one direction. A document without one of them is not in it.
    ///   - name: Its name; by default derived from the definition as in CouchDB.
    ///   - designDocument: The name of the design document, with or without `_design/`; derived by default.
    ///   - partialFilter: The selector of documents in it, without `$text`. Only queries that name such an index use
    ///     it.
    /// - Returns: The index.
    /// - Throws: ``QueryError`` with code `mixedSort`, `invalidSortField`, or `invalidLanguage` when the design
    ///   document contains functions; ``SelectorError`` with code `notSupported` for a filter with `$text`;
    ///   ``DatabaseError``.
    @discardableResult
    public func createIndex(
        on fields: SortField..., name: String? = nil, designDocument: String? = nil, partialFilter: MangoSelector? = nil
    ) throws -> QueryIndex {
        try createIndex(
            IndexDefinition(fields: fields, filter: partialFilter, name: name, designDocument: designDocument)
        ).index
    }

    /// Creates an index on the fields of properties of a model, unless it exists already.
    ///
    ///     try database.createIndex(on: \.address.city, \.name, of: Person.self)
    ///
    /// - Parameters:
    ///   - properties: The properties. ``DocumentQuery`` has the rules for finding their fields. A document without
    ///     one of the fields is not in the index.
    ///   - model: The model.
    ///   - name: Its name; by default derived from the definition as in CouchDB.
    ///   - designDocument: The name of the design document, with or without `_design/`; derived by default.
    ///   - partialFilter: The selector of documents in it. Only queries that name such an index use it.
    /// - Returns: The index.
    /// - Throws: ``QueryError`` with code `unknownField` for a property whose field is unknown (``Queryable``), and
    ///   otherwise as ``createIndex(on:name:designDocument:partialFilter:)``.
    @discardableResult
    public func createIndex<Model: Decodable>(
        on properties: PartialKeyPath<Model>..., of model: Model.Type, name: String? = nil,
        designDocument: String? = nil, partialFilter: MangoSelector? = nil
    ) throws -> QueryIndex {
        let fields = try properties.map { SortField.ascending(try ModelNames.path(of: $0).get()) }
        return try createIndex(
            IndexDefinition(fields: fields, filter: partialFilter, name: name, designDocument: designDocument)
        ).index
    }

    /// Creates a text index for `$text` queries, unless it exists already.
    ///
    ///     try database.createTextIndex(on: "title", "summary", analyzer: "english")
    ///     try database.find(DocumentQuery<JSONValue>(MangoSelector(["$text": "catalogue OR index", "year": ["$gt": 1990]])))
    ///
    /// Its definition is written into a design document, in CouchDB's format, and so replicates. An app that only
    /// searches needs no design document: see ``TextIndex``.
    ///
    /// - Parameters:
    ///   - fields: The members that can be searched separately, as `title:word`; all texts of a document are searched
    ///     in addition.
    ///   - analyzer: The analyzer, by CouchDB's name: `standard`, `english`, `simple`, `keyword`, `whitespace`,
    ///     `classic` or `email`.
    ///   - name: Its name; by default derived from the definition as in CouchDB.
    ///   - designDocument: The name of the design document, with or without `_design/`; derived by default.
    ///   - partialFilter: The selector of documents in it. Only queries that name such an index use it.
    /// - Returns: The index.
    /// - Throws: ``QueryError`` with code `invalidIndex` for an unknown analyzer, `invalidFieldsDefinition` for a
    ///   field without a name, or `invalidLanguage` when the design document contains functions; ``SelectorError`` with
    ///   code `notSupported` for a filter with `$text`; ``DatabaseError``.
    @discardableResult
    public func createTextIndex(
        on fields: String..., analyzer: String = "standard", name: String? = nil, designDocument: String? = nil,
        partialFilter: MangoSelector? = nil
    ) throws -> QueryIndex {
        var definition: JSONValue = ["default_field": ["analyzer": .string(analyzer)]]
        if !fields.isEmpty {
            definition["fields"] = .array(fields.map { ["name": .string($0), "type": "string"] })
        }
        if let partialFilter { definition["partial_filter_selector"] = partialFilter.json }
        return try createIndex(IndexDefinition(text: definition, name: name, designDocument: designDocument)).index
    }

    /// Creates an index from its definition, unless it exists already.
    ///
    /// - Returns: The index, and whether it was created.
    /// - Throws: ``QueryError`` with code `invalidLanguage` when the design document contains functions, or
    ///   `invalidPartitionedOption`; ``DatabaseError``.
    package func createIndex(_ definition: IndexDefinition) throws -> (index: QueryIndex, isNew: Bool) {
        let id = definition.designDocument
        let isNew = try transaction {
            var document = try document(id) ?? Document(id: id)
            let old = document.revision == nil ? nil : document.json.object
            let new = try definition.added(to: old)
            guard new != old else { return false }
            document.json = .object(new)
            try save(document, onConflict: .fail)
            return true
        }
        let made = try indexes().first {
            $0.designDocument == id && $0.name.hasSameBytes(as: definition.name) && $0.kind == definition.kind
        }
        guard let made else { throw QueryError(.invalidIndex, "The index \(definition.name) was removed meanwhile.") }
        return (made, isNew)
    }

    /// The indexes that queries may use, the list of all documents first.
    ///
    /// - Throws: ``DatabaseError``.
    public func indexes() throws -> [QueryIndex] { try QueryIndexes.all(in: self) }

    /// Removes an index; its design document is deleted when it contains nothing else. In a transaction, its file stays
    /// until the commit.
    ///
    /// - Returns: Whether it existed.
    /// - Throws: ``DatabaseError``.
    @discardableResult
    public func deleteIndex(_ index: QueryIndex) throws -> Bool {
        guard let id = index.designDocument else { return false }
        let wasThere = try transaction {
            guard var document = try document(id), let members = document.json.object,
                members[index.kind.rawValue]?[index.name] != nil
            else { return false }
            if let rest = try IndexDefinition.removed([index], from: members) {
                document.json = .object(rest)
                try save(document, onConflict: .fail)
            } else {
                try delete(document, onConflict: .fail)
            }
            return true
        }
        if wasThere { try QueryIndexes.removeOthers(of: self) }
        return wasThere
    }
}
