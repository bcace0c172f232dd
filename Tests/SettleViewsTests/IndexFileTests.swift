import Foundation
import SettlePlatform
import SettleTesting
import Testing

@testable import SettleDatabase
@testable import SettleViews

/// The file of an index, when several connections open it at once.
@Suite struct IndexFileTests {
    /// What a killed process may leave: an empty file, with or without a log beside it.
    @Test(arguments: [false, true]) func `connections that open a new file at once all get it`(hasLog: Bool) throws {
        let folder = try TemporaryFolder()
        let failures = Guarded<[String]>([])
        for round in 0..<200 {
            let path = folder("\(round).index")
            try Data().write(to: URL(fileURLWithPath: path))
            if hasLog { try Data("left".utf8).write(to: URL(fileURLWithPath: path + "-wal")) }
            DispatchQueue.concurrentPerform(iterations: 4) { _ in
                do {
                    let connection = try IndexFile.open(path, .views)
                    if try connection.integer("PRAGMA user_version") != IndexTables.views.version {
                        failures.withLock { $0.append("no tables") }
                    }
                } catch { failures.withLock { $0.append("\(error)") } }
            }
        }
        #expect(failures.withLock { $0 } == [])
    }
}
