import SettleCore
import Testing

@testable import SettleServer

/// What the server remembers of mobile clients, which has a limit that no client can use up for the others.
@Suite struct MobileMemoryTests {
    private func device(_ client: String) -> RefusedProposals.Device {
        RefusedProposals.Device(account: "anna", database: "db", client: client)
    }

    private func id(_ number: Int) -> DocumentID { DocumentID(unchecked: "doc-\(number)") }

    @Test func `a device with as many refused edits as are kept does not keep out another one`() {
        for round in 0..<64 {
            let refused = RefusedProposals(limit: 10)
            let (many, other) = (device("many-\(round)"), device("other-\(round)"))
            for number in 0..<10 { refused.add(id(number), of: many) }
            refused.add("milk", of: other)
            #expect(refused.take(10, of: other) == ["milk"])
        }
    }

    @Test func `devices with one refused edit each are forgotten in the order of their edits`() {
        let refused = RefusedProposals(limit: 10)
        for number in 0..<15 { refused.add("milk", of: device("\(number)")) }
        for number in 0..<15 { #expect(refused.take(1, of: device("\(number)")) == (number < 5 ? [] : ["milk"])) }
    }

    @Test func `the refused edits of a device are taken part by part`() {
        let refused = RefusedProposals(limit: 10)
        for number in 0..<5 { refused.add(id(number), of: device("a")) }
        #expect(refused.take(2, of: device("a")) == [id(0), id(1)])
        #expect(refused.take(2, of: device("b")) == [])
        #expect(refused.take(2, of: device("a")) == [id(2), id(3)])
        #expect(refused.take(2, of: device("a")) == [id(4)])
        #expect(refused.take(2, of: device("a")) == [])
    }

    @Test func `no document is kept that Couchbase Lite can't have`() {
        let refused = RefusedProposals(limit: 10)
        let long = DocumentID(unchecked: String(repeating: "x", count: 1000))
        refused.add(long, of: device("a"))
        #expect(refused.take(10, of: device("a")) == [])
    }

    @Test func `the edits that have arrived are limited in all collections together, and their names, too`() {
        var edits = UpgradedEdits()
        let name = "2-" + String(repeating: "a", count: 32)
        let long = String(repeating: "a", count: 1000)
        for edit in [
            UpgradedEdits.Edit(id: DocumentID(unchecked: long), name: name),
            UpgradedEdits.Edit(id: "a", name: "2-" + long),
        ] {
            edits.arrive(edit, in: 0, hasTrees: false)
        }
        #expect(edits.arrived(in: 0).isEmpty)
        for collection in 0..<3 {
            for number in 0..<4000 {
                edits.arrive(UpgradedEdits.Edit(id: id(number), name: name), in: collection, hasTrees: false)
            }
        }
        #expect((0..<3).map { edits.arrived(in: $0).count } == [4000, 4000, 2000])
    }
}
