internal import SettleDatabase
internal import SettleViews

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The indexes of a database, by their names, each of which is a file in the database's folder.
final class ViewIndexes: Sendable {
    private let folder: String
    private let isTemporary: Bool
    private let open = Guarded<[String: ViewIndex]>([:])

    private init(_ database: Database) {
        isTemporary = database.path == nil
        folder = (database.path ?? FileManager.default.temporaryDirectory.path + "/settle-" + UUID().uuidString) + "/views"
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit {
        if isTemporary { try? FileManager.default.removeItem(atPath: folder) }
    }

    private static func own(_ database: Database) -> ViewIndexes {
        database.companion(ViewIndexes.self) { ViewIndexes(database) }
    }

    /// The index of a name, made by a closure that gets the path of its file.
    static func index(_ name: String, of database: Database, _ make: (String) -> ViewIndex) -> ViewIndex {
        let own = own(database)
        return own.open.withLock { open in
            if let known = open[name] { return known }
            let made = make(own.folder + "/" + name + ".index")
            open[name] = made
            return made
        }
    }

    /// Removes the indexes that have none of these names.
    static func remove(except names: Set<String>, of database: Database) throws {
        let own = own(database)
        own.open.withLock { open in open = open.filter { names.contains($0.key) } }
        for file in (try? FileManager.default.contentsOfDirectory(atPath: own.folder)) ?? [] {
            guard let name = file.split(separator: ".").first.map(String.init), !names.contains(name) else { continue }
            try? FileManager.default.removeItem(atPath: own.folder + "/" + file)
        }
    }

    /// How many bytes the file of an index has.
    static func size(_ name: String, of database: Database) -> Int {
        let path = own(database).folder + "/" + name + ".index"
        return ["", "-wal"].reduce(0) { sum, suffix in
            let size = try? FileManager.default.attributesOfItem(atPath: path + suffix)[.size] as? Int
            return sum + (size ?? 0)
        }
    }
}
