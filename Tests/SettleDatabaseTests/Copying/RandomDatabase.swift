import Foundation
import Settle
import SettlePlatform
import SettleTesting

@testable import SettleDatabase

/// Fills a database with everything there can be: conflicts, tombstones, attachments, local documents, purges, dates.
struct RandomDatabase {
    let database: Database
    var random: SeededRandom

    private mutating func id() -> DocumentID {
        DocumentID(unchecked: ["a", "é", "\u{10000}", "_design/d"][random.below(4)] + "\(random.below(12))")
    }

    private mutating func body() -> DocumentBody {
        ["n": .number(JSONNumber(random.below(1000))), "t": .string(String(repeating: "x", count: random.below(300)))]
    }

    private mutating func attachments() throws -> [DocumentAttachment] {
        guard random.oneIn(3) else { return [] }
        let length = [0, 10, 60_000, 70_000, 400_000][random.below(5)]
        var noise = SeededRandom(seed: UInt64(random.below(4)))
        let content = noise.compressibleBytes(length)
        let type = random.oneIn(2) ? "text/plain" : "image/png"
        return [try database.makeAttachment("x", contentType: type, content: content)]
    }

    /// A history of made-up revisions that may share its older ones with others.
    private mutating func history() throws -> RevisionHistory {
        let length = 1 + random.below(4)
        let signatures = try (1...length).map { generation in
            try RevisionID(validating: "1-\(["a", "b", "c"][random.below(3)])\(generation)").signature
        }
        return try RevisionHistory(start: UInt64(length), signatures: signatures.reversed())
    }

    mutating func step() throws {
        let id = id()
        switch random.below(20) {
        case 0..<6:
            var document = try database.document(id) ?? Document(id: id)
            document["step"] = .number(JSONNumber(random.below(1000)))
            for attachment in try attachments() { document.attach(attachment) }
            try database.save(document, onConflict: .lastWriteWins)
        case 6..<12:
            let revision = try peer(
                id, history(), body(), isDeleted: random.oneIn(4), attachments: attachments())
            try database.insertReplicated([revision])
        case 12, 13: if let found = try database.document(id) { try database.delete(found, onConflict: .lastWriteWins) }
        case 14: try database.purge(id)
        case 15: try database.saveLocalDocument(DocumentID(unchecked: "_local/\(random.below(5))"), body: body())
        case 16:
            if try database.document(id) != nil {
                try database.setExpiration(of: id, at: Date(timeIntervalSinceNow: 1e6 + Double(random.below(100))))
            }
        case 17: try database.setSetting("random \(random.below(3))", to: random.oneIn(3) ? nil : "\(random.next())")
        case 18: if random.oneIn(4) { try database.compact(keepingOldContentsFor: random.oneIn(2) ? .seconds(1) : nil) }
        default: try database.setRevisionLimit(1 + random.below(20))
        }
    }
}
