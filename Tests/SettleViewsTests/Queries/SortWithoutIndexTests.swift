import PostgresTesting
import Settle
import SettleDatabase
import SettleTesting
import SettleViews
import Testing

/// An order without an index: sorted in memory, up to a bound, with a hint.
struct SortWithoutIndexTests {
    private struct Town: Codable, Sendable {
        var name: String
        var size: Int?
    }

    private let database: Database

    init() throws {
        database = try Database.plain()
        for (number, name) in ["Telč", "Praha", "Brno", "Aš", "Zlín"].enumerated() {
            try database.save(
                Document(
                    id: DocumentID(stringLiteral: name),
                    encoding: Town(name: name, size: name == "Aš" ? nil : number % 2)))
        }
    }

    private func names(_ query: DocumentQuery<Town>) throws -> [String] { try database.find(query).values.map(\.name) }

    @Test func `an order needs no index, and the warnings name the index to create`() throws {
        let result = try database.find(DocumentQuery<Town>().sorted(by: "name"))
        #expect(result.values.map(\.name) == ["Aš", "Brno", "Praha", "Telč", "Zlín"])
        #expect(result.warnings.contains { $0.hasSuffix(#"create one with createIndex(on: "name")."#) })
        try database.createIndex(on: "name")
        let indexed = try database.find(DocumentQuery<Town>().where { $0.name >= "" }.sorted(by: "name"))
        #expect(indexed.values.map(\.name) == result.values.map(\.name))
        #expect(indexed.warnings.isEmpty)
    }

    @Test func `equal values are ordered by id, and a document without the member is not found`() throws {
        #expect(try names(DocumentQuery().sorted(by: "size")) == ["Brno", "Telč", "Zlín", "Praha"])
        #expect(try names(DocumentQuery().sorted(by: .descending("size"))) == ["Praha", "Zlín", "Telč", "Brno"])
        #expect(try names(DocumentQuery().sorted(by: "size", "name").prefix(2)) == ["Brno", "Telč"])
    }

    @Test func `equal values are in the order of the index that answers, and without one by id`() throws {
        for (id, rank) in [("a", 2), ("b", 1)] {
            let body: DocumentBody = ["floor": 1, "rank": .number(JSONNumber(rank))]
            try database.save(Document(id: DocumentID(stringLiteral: id), body: body))
        }
        let query = DocumentQuery<JSONValue>().where { $0["rank"] > 0 }
        func ids(_ field: SortField) throws -> [DocumentID] {
            try database.find(query.sorted(by: field)).rows.map(\.id)
        }
        #expect(try ids("floor") == ["a", "b"])
        #expect(try ids(.descending("floor")) == ["b", "a"])
        try database.createIndex(on: "floor", "rank")
        #expect(try ids("floor") == ["b", "a"])
        #expect(try ids(.descending("floor")) == ["a", "b"])
    }

    @Test func `more documents than the bound are refused, unless fewer are asked for`() throws {
        let query = DocumentQuery<Town>().sorted(by: "name", withoutIndexUpTo: 4)
        let error = #expect(throws: QueryError.self) { try names(query) }
        #expect(error?.code == .noUsableIndex)
        #expect(
            error.map { "\($0)" }?.contains("More than 4 documents match, too many to sort without an index.") == true)
        #expect(throws: QueryError.self) { try names(query.prefix(3).dropFirst(2)) }
        #expect(try names(query.prefix(2).dropFirst(2)) == ["Praha", "Telč"])
        #expect(try names(query.where { $0.name != "Aš" }) == ["Brno", "Praha", "Telč", "Zlín"])
    }

    @Test func `no bound at all requires an index`() throws {
        let query = DocumentQuery<Town>().sorted(by: "name", withoutIndexUpTo: 0)
        let error = #expect(throws: QueryError.self) { try names(query) }
        #expect(error?.code == .noUsableIndex)
        #expect(try database.explain(query).index == nil)
    }

    @Test func `the plan says that documents are sorted in memory`() throws {
        try database.createIndex(on: "size")
        let plan = try database.explain(DocumentQuery<Town>().where { $0.size == 1 }.sorted(by: .descending("name")))
        #expect(plan.sortsInMemory && plan.index?.fields.map(\.path) == ["size"] && !plan.isDescending)
        #expect(try !database.explain(DocumentQuery<Town>().where { $0.size >= 0 }.sorted(by: "size")).sortsInMemory)
    }

    @Test func `a selection is made after sorting by a member that is not selected`() throws {
        try database.createIndex(on: "name")
        let found = try database.find(
            DocumentQuery<JSONValue>(MangoSelector(["name": ["$gt": "B"]])).sorted(by: .descending("size")).selecting(
                "name"))
        #expect(found.values == [["name": "Praha"], ["name": "Zlín"], ["name": "Telč"], ["name": "Brno"]])
    }

    @Test func `pages and a live query sort, too`() async throws {
        var pages: [[String]] = []
        for try await page in database.pages(of: DocumentQuery<Town>().sorted(by: "name"), size: 2) {
            pages.append(page.values.map(\.name))
        }
        #expect(pages == [["Aš", "Brno"], ["Praha", "Telč"], ["Zlín"]])
        var changes = database.observe(DocumentQuery<Town>().sorted(by: "name").prefix(2)).makeAsyncIterator()
        #expect(try await changes.next()?.values.map(\.name) == ["Aš", "Brno"])
        try database.save(Document(id: "Aachen", encoding: Town(name: "Aachen", size: 3)))
        #expect(try await changes.next()?.values.map(\.name) == ["Aachen", "Aš"])
    }
}
