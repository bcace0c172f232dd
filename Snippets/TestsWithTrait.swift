// The code of the article "Testing an app" that Swift Testing runs.
#if canImport(Testing)
import Settle
import SettleTesting
import Testing

@Suite(.database) struct ShoppingTests {
    @Test func `a new item is not bought`() throws {
        let saved = try Database.current.save(Document(body: ["name": "Milk"]))
        #expect(saved["bought"] == nil)
    }

    @Test(.database(.file), arguments: ["Milk", "Bread"])
    func `an item is there after the next start`(name: String) throws {
        try Database.current.save(Document(id: "item", body: ["name": .string(name)]))
        try TemporaryDatabase.current.reopen()
        #expect(try Database.current.document("item")?["name"]?.string == name)
    }
}
#endif
