import Settle
import Testing

@testable import SettleReplication

@Suite struct ConflictQueueTests {
    @Test func `a conflict that failed is not tried again by the search that finds it later`() {
        var queue = ConflictQueue(atOnce: 2)
        queue.beginSweep()
        queue.add("stored")
        #expect(queue.next() == "stored")
        _ = queue.finish("stored")
        queue.recordFailure("stored")
        queue.receive(["old", "stored"], goesOn: true)
        #expect(queue.next() == "old")
        #expect(queue.next() == nil)
        // One that changes is tried again.
        queue.add("stored")
        #expect(queue.next() == "stored")
        queue.receive([], goesOn: false)
        queue.recordFailure("stored")
        _ = (queue.finish("old"), queue.finish("stored"))
        #expect(queue.isEmpty)
        queue.beginSweep()
        queue.receive(["stored"], goesOn: false)
        #expect(queue.next() == "stored", "a new search tries all that it finds")
    }

    @Test func `a conflict of a document that is being stored is settled once, when the store ends`() {
        var queue = ConflictQueue(atOnce: 9)
        queue.beginSweep()
        queue.beginStore(1, of: ["stored", "other"])
        queue.beginStore(2, of: ["failed", "fine"])
        queue.receive(["old", "stored", "failed"], goesOn: false)
        #expect(queue.next() == "old")
        #expect(queue.next() == nil)
        queue.endStore(1, conflicted: ["stored"])
        #expect(queue.next() == "stored")
        #expect(queue.next() == nil)
        queue.endStore(2, conflicted: nil)
        #expect(queue.next() == "failed", "a store that failed reports no conflict, but there is one")
        #expect(queue.next() == nil)
        // Without a search nothing waits.
        queue.beginStore(3, of: ["late"])
        queue.endStore(3, conflicted: ["late"])
        #expect(queue.next() == "late" && queue.count == 4)
    }

    @Test func `a conflict that is being settled is not settled again because a search finds it`() {
        var queue = ConflictQueue(atOnce: 2)
        queue.beginSweep()
        queue.add("stored")
        #expect(queue.next() == "stored")
        queue.receive(["stored", "old"], goesOn: false)
        #expect(queue.next() == "old")
        #expect(queue.next() == nil && queue.count == 2)
        #expect(queue.finish("stored").isLast && queue.finish("old").isLast && queue.isEmpty)
        // One that changes meanwhile is settled again.
        queue.add("stored")
        #expect(queue.next() == "stored")
        queue.add("stored")
        #expect(!queue.finish("stored").isLast && queue.next() == "stored")
    }
}
