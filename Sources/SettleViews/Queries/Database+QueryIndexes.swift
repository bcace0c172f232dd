import RevisionTree
public import SettleDatabase

extension Database {
    /// Makes an index for queries, unless it is there already.
    ///
    ///     try database.createIndex(on: "city", "age")
    ///     try database.createIndex(on: "due", partialFilter: Selector(["done": false]), designDocument: "open")
    ///
    /// Its definition is written into a design document, as CouchDB has it, and so replicates. What is in it is built when it
    /// is first asked.
    ///
    /// - Parameters:
    ///   - fields: The members it is ordered by, all in one direction. A document without one of them is not in it.
    ///   - name: Its name; derived from the definition as CouchDB does unless given.
    ///   - designDocument: The name of the design document, with or without `_design/`; derived unless given.
    ///   - partialFilter: Which documents are in it. Such an index is used only by queries that ask for it by name.
    /// - Returns: The index.
    /// - Throws: ``QueryError`` with code `mixedSort`, `invalidSortField`, or `invalidLanguage` when the design document is one of
    ///   functions; ``DatabaseError``.
    @discardableResult
    public func createIndex(
        on fields: SortField..., name: String? = nil, designDocument: String? = nil, partialFilter: Selector? = nil
    ) throws -> QueryIndex {
        try createIndex(
            IndexDefinition(fields: fields, filter: partialFilter, name: name, designDocument: designDocument)
        ).index
    }

    /// Makes an index of texts for queries that ask for words by `$text`, unless it is there already.
    ///
    ///     try database.createTextIndex(on: "title", "summary", analyzer: "english")
    ///     try database.find(Query<JSON>(Selector(["$text": "catalogue OR index", "year": ["$gt": 1990]])))
    ///
    /// Its definition is written into a design document, as CouchDB has it, and so replicates. An app that only searches needs
    /// no design document: see ``TextIndex``.
    ///
    /// - Parameters:
    ///   - fields: The members that can be searched on their own, as `title:word`; all texts of a document are searched
    ///     besides.
    ///   - analyzer: How texts are taken apart, by CouchDB's name: `standard`, `english`, `simple`, `keyword`, `whitespace`,
    ///     `classic` or `email`.
    ///   - name: Its name; derived from the definition as CouchDB does unless given.
    ///   - designDocument: The name of the design document, with or without `_design/`; derived unless given.
    ///   - partialFilter: Which documents are in it. Such an index is used only by queries that ask for it by name.
    /// - Returns: The index.
    /// - Throws: ``QueryError`` with code `invalidIndex` for an analyzer that there is none of, `invalidFieldsDefinition` for a
    ///   field without a name, or `invalidLanguage` when the design document is one of functions; ``DatabaseError``.
    @discardableResult
    public func createTextIndex(
        on fields: String..., analyzer: String = "standard", name: String? = nil, designDocument: String? = nil,
        partialFilter: Selector? = nil
    ) throws -> QueryIndex {
        var definition: JSON = ["default_field": ["analyzer": .string(analyzer)]]
        if !fields.isEmpty {
            definition["fields"] = .array(fields.map { ["name": .string($0), "type": "string"] })
        }
        if let partialFilter { definition["partial_filter_selector"] = partialFilter.json }
        return try createIndex(IndexDefinition(text: definition, name: name, designDocument: designDocument)).index
    }

    /// Makes an index by its definition, unless it is there already.
    ///
    /// - Returns: The index, and whether it was made.
    /// - Throws: ``QueryError`` with code `invalidLanguage` when the design document is one of functions, or
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
            $0.designDocument == id && $0.name == definition.name && $0.kind == definition.kind
        }
        guard let made else { throw QueryError(.invalidIndex, "The index \(definition.name) was removed meanwhile.") }
        return (made, isNew)
    }

    /// The indexes that queries may use, the list of all documents first.
    ///
    /// - Throws: ``DatabaseError``.
    public func indexes() throws -> [QueryIndex] { try QueryIndexes.all(in: self) }

    /// Removes an index; its design document is deleted when nothing else is in it.
    ///
    /// - Returns: Whether it was there.
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
