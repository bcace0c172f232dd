import PostgresTesting
import Settle
import SettleDatabase
import SettleQuery
import SettleTesting
import SettleViews
import Testing

/// The result of a query depends on the documents and the selector, never on the indexes.
struct FindPropertyTests {
    /// Two databases with the same documents, one of them with indexes.
    private struct Pair {
        let indexed: Database
        let plain: Database
        /// Runs the same steps on both databases.
        func both(_ body: (Database) throws -> Void) throws {
            try body(indexed)
            try body(plain)
        }
    }

    @Test(arguments: 1...24)
    func `a query finds the same with each index, without one, and by a scan`(seed: UInt64) throws {
        var questions = RandomQuestions(seed: seed)
        let pair = Pair(indexed: try Database.plain(), plain: try Database.plain())
        for round in 0..<6 {
            for _ in 0..<(round == 0 ? 60 : 15) { try change(pair, &questions) }
            if round < 4 { try makeIndex(pair.indexed, &questions, round) }
            if round == 4, let index = try pair.indexed.indexes().last { try pair.indexed.deleteIndex(index) }
            for _ in 0..<25 { try ask(pair, &questions, "seed \(seed), round \(round)") }
        }
    }

    /// Saves, deletes, purges, or adds a branch.
    private func change(_ pair: Pair, _ questions: inout RandomQuestions) throws {
        let id = DocumentID(stringLiteral: questions.id())
        let body = questions.body()
        let kind = questions.random.below(10)
        let branch = try #require(RevisionID("\(1 + questions.random.below(2))-\(questions.random.below(1_000_000))"))
        try pair.both { database in
            switch kind {
            case 0: if let known = try database.document(id) { try database.delete(known, onConflict: .lastWriteWins) }
            case 1: try database.purge(id)
            case 2:
                try database.insertReplicated([
                    ReplicatedRevision(id: id, history: RevisionHistory(branch), body: body)
                ])
            default:
                var document = try database.document(id) ?? Document(id: id)
                document.setBody(body)
                try database.save(document, onConflict: .lastWriteWins)
            }
        }
    }

    private func makeIndex(_ database: Database, _ questions: inout RandomQuestions, _ number: Int) throws {
        let fields = questions.fields()
        let filter = questions.random.oneIn(3) ? try? MangoSelector(questions.selector(1)) : nil
        let definition = try IndexDefinition(
            fields: fields.map { .ascending($0) }, filter: filter?.isVacuous == true ? nil : filter, name: "i\(number)",
            designDocument: "d\(number)")
        let members = try definition.added(to: nil)
        try database.save(
            Document(id: definition.designDocument, body: DocumentBody(.object(members))), onConflict: .fail)
    }

    private func ask(_ pair: Pair, _ questions: inout RandomQuestions, _ place: String) throws {
        guard let selector = try? MangoSelector(questions.selector()) else { return }
        let note = Comment(rawValue: "\(place): \(selector)")
        let expected = try matching(selector, in: pair.plain)
        #expect(try ids(FindOptions(selector), in: pair.plain).sorted() == expected, note)
        #expect(try ids(FindOptions(selector), in: pair.indexed).sorted() == expected, note)
        for index in try pair.indexed.indexes() { try ask(pair.indexed, selector, by: index, expected, note) }
        try askSorted(pair.indexed, selector, &questions, expected, note)
        try askInPages(pair.indexed, selector, &questions, expected, note)
        for database in [pair.plain, pair.indexed] {
            try askSortedInMemory(database, selector, &questions, expected, note)
        }
    }

    /// The ids of the matching documents, by testing each.
    private func matching(_ selector: MangoSelector, in database: Database) throws -> [String] {
        guard !selector.isVacuous else { return [] }
        return try database.documents().filter { !$0.id.isDesign && selector.matches($0) }.map(\.id.string).sorted()
    }

    private func ids(_ options: FindOptions, in database: Database) throws -> [String] {
        var options = options
        options.limit = .max
        var cursor = try FindCursor(options, in: database)
        try cursor.update()
        var ids: [String] = []
        while !cursor.isDone {
            try cursor.next(lookingAt: 7) { found in
                switch found {
                case .whole(let record): ids.append(record.id.string)
                case .part(_, let id): ids.append(id.string)
                }
                return ids.count % 5 != 0
            }
        }
        return ids
    }

    /// Uses one index if possible, and returns only covered members if it covers them.
    private func ask(
        _ database: Database, _ selector: MangoSelector, by index: QueryIndex, _ expected: [String], _ note: Comment
    ) throws {
        guard let document = index.designDocument else { return }
        var options = FindOptions(selector)
        options.useIndex = [document.string, index.name]
        options.allowsFallback = false
        let found: [String]
        do { found = try ids(options, in: database) } catch is QueryError { return }
        var wanted = expected
        if let filter = index.partialFilter {
            let inFilter = try Set(matching(filter, in: database))
            wanted = expected.filter { inFilter.contains($0) }
        }
        #expect(found.sorted() == wanted, "\(note) by \(index.fields)")
        options.fields = ["_id"] + index.fields.map(\.path)
        #expect(try ids(options, in: database) == found, "\(note) by \(index.fields), covered")
    }

    /// Uses an order that an index may serve: the documents that have its members, in that order.
    private func askSorted(
        _ database: Database, _ selector: MangoSelector, _ questions: inout RandomQuestions, _ expected: [String],
        _ note: Comment
    ) throws {
        guard let index = questions.random.pick(try database.indexes()), index.partialFilter == nil,
            !index.isAllDocuments, !index.fields.contains(where: { $0.path == "_id" })
        else { return }
        let isDescending = questions.random.oneIn(2)
        var options = FindOptions(selector)
        options.sort = index.fields.prefix(1 + questions.random.below(index.fields.count)).map {
            isDescending ? .descending($0.path) : .ascending($0.path)
        }
        let found: [String]
        do { found = try ids(options, in: database) } catch let error as QueryError {
            #expect(error.code == .noUsableIndex, note)
            return
        }
        let paths = options.sort.map { SelectorPath($0.path) }
        var keys: [JSONValue] = []
        var wanted: [String] = []
        for id in expected {
            if try key(of: id, paths, in: database) != nil { wanted.append(id) }
        }
        for id in found { if let key = try key(of: id, paths, in: database) { keys.append(key) } }
        #expect(found.sorted() == wanted, "\(note) by \(options.sort)")
        let wrong: Collation.Order = isDescending ? .before : .after
        for (left, right) in zip(keys, keys.dropFirst()) {
            #expect(Collation.compare(left, right) != wrong, "\(note) by \(options.sort): \(left) \(right)")
        }
    }

    /// Uses any order, whole and in pages, with an index or without one: the documents that have its members, in that
    /// order.
    private func askSortedInMemory(
        _ database: Database, _ selector: MangoSelector, _ questions: inout RandomQuestions, _ expected: [String],
        _ note: Comment
    ) throws {
        let isDescending = questions.random.oneIn(2)
        let fields: [SortField] = questions.fields().map { isDescending ? .descending($0) : .ascending($0) }
        let paths = fields.map { SelectorPath($0.path) }
        var wanted: [(key: JSONValue, id: String)] = []
        for id in expected { if let key = try key(of: id, paths, in: database) { wanted.append((key, id)) } }
        wanted.sort { left, right in
            let order = Collation.compare(left.key, right.key)
            return order == .same
                ? Array(left.id.utf8).lexicographicallyPrecedes(Array(right.id.utf8)) : order == .before
        }
        if isDescending { wanted.reverse() }
        var options = FindOptions(selector)
        options.sort = fields
        options.sortLimit = max(wanted.count, 1)
        let plan = try FindPlanner(options, indexes: QueryIndexes.all(in: database)).plan()
        let found = try ids(options, in: database)
        // An index with more members orders equal values by these.
        guard plan.sortsInMemory else {
            #expect(found.sorted() == wanted.map(\.id).sorted(), "\(note) by \(fields)")
            return
        }
        #expect(found == wanted.map(\.id), "\(note) by \(fields)")
        var query = DocumentQuery<JSONValue>(selector).sorted(by: fields, withoutIndexUpTo: 10)
            .prefix(1 + questions.random.below(10))
        var paged: [String] = []
        while true {
            let page = try database.find(query)
            paged += page.rows.map(\.id.string)
            if page.rows.isEmpty || paged.count > wanted.count { break }
            query = query.after(page.bookmark)
        }
        #expect(paged == wanted.map(\.id), "\(note) by \(fields), in pages")
    }

    private func key(of id: String, _ paths: [SelectorPath], in database: Database) throws -> JSONValue? {
        guard let document = try database.document(DocumentID(stringLiteral: id)) else { return nil }
        var whole = document.json
        whole["_id"] = .string(id)
        whole["_rev"] = document.revision.map { .string($0.description) }
        var values: [JSONValue] = []
        for path in paths {
            guard case .value(let value) = path.destination(in: whole) else { return nil }
            values.append(value)
        }
        return .array(values)
    }

    /// Reads pages by bookmarks.
    private func askInPages(
        _ database: Database, _ selector: MangoSelector, _ questions: inout RandomQuestions, _ expected: [String],
        _ note: Comment
    ) throws {
        let size = 1 + questions.random.below(20)
        var query = DocumentQuery<JSONValue>(selector).prefix(size)
        var found: [String] = []
        for _ in 0...200 {
            let page = try database.find(query)
            #expect(page.rows.count <= size, note)
            found += page.rows.map(\.id.string)
            if page.rows.isEmpty { break }
            query = query.after(page.bookmark)
        }
        #expect(found.sorted() == expected, "\(note) in pages of \(size)")
    }
}
