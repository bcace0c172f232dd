package import SettleDatabase

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The indexes of a database, each a file in the folder `views` of the database, open as long as the database is.
///
/// What a database in memory has lies in a temporary folder, which ends with it.
package final class IndexFolder: Sendable {
    private let folder: String
    private let isTemporary: Bool
    private let open = Guarded<[String: any AnyObject & Sendable]>([:])

    private init(_ database: Database) {
        isTemporary = database.path == nil
        folder =
            database.path.map { $0 + "/views" }
            ?? FileManager.default.temporaryDirectory.path + "/settle-views-" + UUID().uuidString
    }

    deinit {
        if isTemporary { try? FileManager.default.removeItem(atPath: folder) }
    }

    /// The folder of a database.
    package static func of(_ database: Database) -> IndexFolder {
        database.companion(IndexFolder.self) { IndexFolder(database) }
    }

    /// The index of a name, which is of one kind always, made by a closure that gets the path of its file.
    ///
    /// - Throws: ``DatabaseError`` with code `inputOutput` when there can be no folder.
    package func index<Index: AnyObject & Sendable>(_ name: String, _ make: (String) -> Index) throws -> Index {
        try open.withLock { open in
            if let known = open[name] as? Index { return known }
            do {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            } catch { throw DatabaseError(.inputOutput, "can't make the folder \(folder)", cause: error) }
            let made = make(path(name))
            open[name] = made
            return made
        }
    }

    /// Whether an index was not asked for since the database was opened.
    func isNew(_ name: String) -> Bool { open.withLock { $0[name] == nil } }

    /// Removes indexes by their names; who is just reading one goes on.
    package func remove(where isDoomed: (String) -> Bool) {
        open.withLock { open in open = open.filter { !isDoomed($0.key) } }
        for file in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
            guard let name = file.split(separator: ".").first.map(String.init), isDoomed(name) else { continue }
            try? FileManager.default.removeItem(atPath: folder + "/" + file)
        }
    }

    /// How many bytes the file of an index has.
    package func size(_ name: String) -> Int {
        ["", "-wal"].reduce(0) { sum, suffix in
            let size = try? FileManager.default.attributesOfItem(atPath: path(name) + suffix)[.size] as? Int
            return sum + (size ?? 0)
        }
    }

    private func path(_ name: String) -> String { folder + "/" + name + ".index" }
}
