import SettleCore
import SettleDatabase
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleViews

/// Counts the bodies of documents that were given to workers and whose rows were not asked for yet.
private final class CountingMapper: ViewMapper {
    private struct Flight {
        var (pages, bytes) = (0, 0)
        var (mostPages, mostBytes) = (0, 0)
    }

    private struct Mapping: ViewMapping {
        let rows: [[Emission]]
        let land: @Sendable () -> Void

        func wait() -> [[Emission]] {
            land()
            return rows
        }
    }

    private let flight = Guarded(Flight())
    /// The most pages at once, and the most bytes.
    var most: (pages: Int, bytes: Int) { flight.withLock { ($0.mostPages, $0.mostBytes) } }

    func start(_ documents: [DocumentRecord]) -> any ViewMapping {
        let bytes = documents.contentLength
        flight.withLock { flight in
            flight.pages += 1
            flight.bytes += bytes
            flight.mostPages = max(flight.mostPages, flight.pages)
            flight.mostBytes = max(flight.mostBytes, flight.bytes)
        }
        let rows = documents.map { [Emission(view: 0, key: JSONValue.string($0.id.string).utf8, value: [0x31])] }
        return Mapping(rows: rows) { [flight] in
            flight.withLock { flight in
                flight.pages -= 1
                flight.bytes -= bytes
            }
        }
    }
}

/// Pages of documents that are mapped at the same time: enough to keep workers busy while a batch is written, within bounds.
struct PagesInFlightTests {
    private func build(_ count: Int, of length: Int) throws -> (rows: Int, most: (pages: Int, bytes: Int)) {
        let folder = try TemporaryFolder()
        let database = try Database.create(folder("d"))
        defer { database.close() }
        let text = JSONValue.string(String(repeating: "x", count: length))
        for start in stride(from: 0, to: count, by: 1000) {
            let edits = (start..<min(start + 1000, count)).map {
                DocumentEdit(id: DocumentID(unchecked: "d\($0)"), parent: nil, body: ["text": text])
            }
            for result in try database.write(edits) { _ = try result.get() }
        }
        let index = try IndexFolder.of(database).index("flight") { place in
            ViewIndex(at: place, definitions: [ViewDefinition(reducers: [])])
        }
        let mapper = CountingMapper()
        try index.update(from: database, by: mapper)
        return (try index.read { try $0.count(0) }, mapper.most)
    }

    @Test func `small documents are mapped in many pages at once`() throws {
        let (rows, most) = try build(20_000, of: 10)
        #expect(rows == 20_000)
        #expect(most.pages == 32)
    }

    @Test func `large documents at once are a few megabytes`() throws {
        let (rows, most) = try build(400, of: 100_000)
        #expect(rows == 400)
        #expect(most.bytes > 7 << 20)
        // A page of them, or one document, may be the last.
        #expect(most.bytes < 10 << 20)
    }
}
