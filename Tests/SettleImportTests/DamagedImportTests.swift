import Foundation
import Settle
import SettleCore
import SettleCrypto
import SettleTesting
import Testing

@testable import SettleImport

/// Truncated and changed copies of every file are imported or refused, and what is stored of an attachment is what its digest says.
///
/// `HostileFileTests`, `CouchFileFixtureTests` and `PouchLevelDBFixtureTests` look at the readers with more copies.
@Suite(.enabled(if: FixtureFiles.areThere)) struct DamagedImportTests {
    private static let copies: Range<UInt64> = 0..<6

    static let victims: [ImportedFixture] = {
        var seen: Set<String> = []
        return ImportedFixture.all.filter { seen.insert($0.path).inserted }
    }()

    @Test(arguments: victims) func `a damaged copy is imported or refused`(fixture: ImportedFixture) throws {
        let whole = try Database.inMemory()
        try fixture.load(into: whole)
        let known = try Set(contents(of: whole).map(\.digest))
        // Contents lie beside some files.
        let parts = fixture.path.split(separator: "/")
        let depth = parts[0] == "cbl1" ? 2 : parts.count
        let root = FixtureFiles.url(parts.prefix(depth).joined(separator: "/"))
        for seed in Self.copies {
            var random = SeededRandom(seed: seed)
            try FixtureFiles.withCopy(of: root) { copy in
                let done = try Self.damage(copy, &random)
                let damage = "\(done) with seed \(seed) of \(fixture)"
                let given = parts.dropFirst(depth).reduce(copy) { $0.appending(path: String($1)) }
                let database = try Database.inMemory()
                var report: ImportReport?
                do {
                    let source = try ForeignDatabase(at: given, kind: fixture.kind)
                    report = try database.importAll(from: source)
                } catch let error as ForeignFileError { #expect(!error.message.isEmpty, "\(damage)") } catch {
                    Issue.record("\(error) at \(damage)")
                }
                for content in try contents(of: database) where !known.contains(content.digest) {
                    // CouchDB's dumps have plain contents with the digest of its own compressed ones, which can't be compared.
                    #expect(fixture.isText && content.isCompressed, "\(content.name) at \(damage)")
                    let isSaid = report?.leftOut.contains { $0.contains("can't be checked") } ?? true
                    #expect(isSaid, "\(content.name) at \(damage)")
                }
            }
        }
    }

    /// Changes a bit of one of the files, or cuts it.
    ///
    /// - Returns: What was done.
    private static func damage(_ copy: URL, _ random: inout SeededRandom) throws -> String {
        let inside = FileManager.default.enumerator(at: copy, includingPropertiesForKeys: nil)?.compactMap {
            $0 as? URL
        }
        let files = ([copy] + (inside ?? [])).filter { (try? FixtureFiles.bytes($0).isEmpty) == false }
            .sorted { $0.path < $1.path }
        let picked = random.pick(files)
        let file = try #require(picked)
        var bytes = try FixtureFiles.bytes(file)
        if random.oneIn(3) {
            bytes = Array(bytes.prefix(random.below(bytes.count)))
        } else {
            bytes[random.below(bytes.count)] ^= 1 << UInt8(random.below(8))
        }
        try Data(bytes).write(to: file)
        return "\(file.lastPathComponent) of \(bytes.count) bytes"
    }

    /// The stored contents of the attachments of all leaves. Every body can be read.
    private func contents(
        of database: Database
    ) throws -> [(name: String, digest: [UInt8], isCompressed: Bool)] {
        var contents: [(name: String, digest: [UInt8], isCompressed: Bool)] = []
        for change in try database.changes() {
            for leaf in try database.leaves(of: change.id) {
                _ = try leaf.body()
                for attachment in leaf.attachments {
                    let stored = try database.attachmentReader(for: attachment, encoded: true).readAll()
                    contents.append(
                        ("\(leaf.id) \(attachment.name)", SHA1.hash(stored), attachment.encoding == .gzip))
                }
            }
        }
        return contents
    }
}

extension ImportedFixture {
    /// Whether the file is a dump, and not a database.
    fileprivate var isText: Bool {
        switch truth {
        case .text, .bodies: true
        case .answers: path.hasSuffix(".jsonl")
        case .revisions, .collections: false
        }
    }
}
