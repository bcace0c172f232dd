import Settle
import SettleDatabase
import SettleTesting
import Testing

/// One rule names the folder of a database in a store.
struct FolderNameTests {
    @Test(arguments: ["a", "a/b", "a/b/c", "x_$()+-9/y"])
    func `a database is found by the name of its folder`(name: String) throws {
        let folder = try TemporaryFolder()
        let store = try DocumentStore(path: folder.path)
        let database = try store.create(name)
        let place = try #require(database.path?.split(separator: "/").last.map(String.init))
        database.close()
        #expect(place == DocumentStore.stem(of: name) + DocumentStore.suffix)
        #expect(DocumentStore.name(ofFolder: place) == name)
        #expect(try store.names() == [name])
    }

    @Test func `other folders are those of no database`() {
        for folder in ["a", "settle", "a.settle.importing", ""] { #expect(DocumentStore.name(ofFolder: folder) == nil) }
        #expect(DocumentStore.name(ofFolder: ".settle")?.isEmpty == true)
    }
}
