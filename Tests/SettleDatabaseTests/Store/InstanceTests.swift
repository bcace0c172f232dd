import Foundation
import Settle
import SettleDatabase
import SettleTesting
import Testing

/// The instance name of a database, by which readers of its changes notice that it is not the one they know.
@Suite struct InstanceTests {
    @Test
    func `a copy that takes the place of a database gets another instance name, and the same file keeps its name`()
        throws
    {
        let folder = try TemporaryFolder()
        let (place, copy) = (folder.path + "/a", folder.path + "/b")
        let name = try { () -> String in
            let database = try Database.create(place)
            defer { database.close() }
            try database.save(Document(id: "a", body: ["x": 1]))
            return try database.instanceName()
        }()
        try {
            let database = try Database.open(place)
            defer { database.close() }
            #expect(try !database.renewInstanceIfReplaced())
            #expect(try database.instanceName() == name)
        }()

        try FileManager.default.copyItem(atPath: place, toPath: copy)
        try FileManager.default.moveItem(atPath: place, toPath: place + "-before")
        try FileManager.default.moveItem(atPath: copy, toPath: place)
        let database = try Database.open(place)
        defer { database.close() }
        #expect(try database.renewInstanceIfReplaced())
        #expect(try database.instanceName() != name)
    }
}
