import Foundation
import Settle
import Testing

@testable import SettleReplication

struct OfflineMachineTests {
    private func machine(_ isOnline: Bool = true, fetches: Bool = true) -> OfflineMachine {
        OfflineMachine(fetchesAfterPush: fetches, lastSyncDate: nil, isOnline: isOnline)
    }

    private var conflict: OfflineConflict {
        OfflineConflict(
            number: 1, documentID: "1", operation: .update, old: nil, new: nil, server: nil, isDeletedAtServer: false,
            serverHistory: nil, reason: .changed, message: "")
    }

    private var unreachable: OfflineMachine.Event { .unreachable(PeerError(.unreachable, "no network")) }

    // SEMANTICS 169, 176, 182
    @Test func `the machine sends one operation after the other, then fetches`() {
        var machine = machine(false)
        #expect(machine.handle(.goOnline) == .lookForOperation)
        #expect(machine.status.state == .synchronizing)
        #expect(machine.handle(.head(true)) == .send)
        #expect(machine.handle(.accepted(at: Date(milliseconds: 5))) == .lookForOperation)
        #expect(machine.handle(.head(false)) == .fetch)
        #expect(machine.handle(.fetched(at: Date(milliseconds: 7))) == nil)
        #expect(machine.status.state == .online)
        #expect(machine.status.lastSyncDate == Date(milliseconds: 7))
    }

    // SEMANTICS 179
    @Test func `a refusal stops the machine, and only a request continues it`() {
        var machine = machine()
        #expect(machine.handle(.changed) == .lookForOperation)
        #expect(machine.handle(.head(true)) == .send)
        #expect(machine.handle(.refused(conflict)) == nil)
        #expect(machine.status.state == .syncFailed)
        for event in [OfflineMachine.Event.changed, .serverChanged, .reachable, unreachable] {
            #expect(machine.handle(event) == nil)
            #expect(machine.status.state == .syncFailed)
        }
        #expect(machine.status.conflict != nil)
        #expect(machine.handle(.decided) == nil)
        #expect(machine.status.conflict == nil && machine.status.state == .syncFailed)
        #expect(machine.handle(.goOnline) == .lookForOperation)
    }

    @Test func `without a network the machine is offline and reconnects automatically`() {
        var machine = machine()
        #expect(machine.handle(unreachable) == nil)
        #expect(machine.status.state == .offline)
        #expect(machine.handle(.changed) == nil)
        #expect(machine.handle(.reachable) == .lookForOperation)
        #expect(machine.handle(unreachable) == nil)
        #expect(machine.status.error?.code == .unreachable)
    }

    @Test func `offline by request lasts until a request to go online`() {
        var machine = machine()
        #expect(machine.handle(.changed) == .lookForOperation)
        #expect(machine.handle(.goOffline) == nil)
        // The result of the cancelled call arrives too late.
        #expect(machine.handle(.head(true)) == nil)
        #expect(machine.handle(.accepted(at: Date(milliseconds: 3))) == nil)
        #expect(machine.handle(.reachable) == nil)
        #expect(machine.status.state == .offline)
        #expect(machine.handle(.goOnline) == .lookForOperation)
    }

    // SEMANTICS 182
    @Test func `without fetching the machine is online as soon as all is sent, with the last fetch's time`() {
        var machine = machine(fetches: false)
        #expect(machine.handle(.goOnline) == .lookForOperation)
        #expect(machine.handle(.head(false)) == nil)
        #expect(machine.status.state == .online)
        #expect(machine.status.lastSyncDate == nil)
        #expect(machine.handle(.fetched(at: Date(milliseconds: 9))) == nil)
        #expect(machine.status.lastSyncDate == Date(milliseconds: 9))
    }

    @Test func `every state accepts every event and never has two actions`() {
        let events: [OfflineMachine.Event] = [
            .goOnline, .goOffline, .changed, .serverChanged, .reachable, unreachable, .head(true), .head(false),
            .accepted(at: Date(milliseconds: 1)), .refused(conflict), .fetched(at: Date(milliseconds: 1)),
            .failed(PeerError(.unauthorized, "who?")), .decided,
            .erased,
        ]
        var seen: Set<String> = []
        func walk(_ machine: OfflineMachine, _ depth: Int) {
            seen.insert(machine.status.state.rawValue)
            #expect(machine.status.conflict == nil || machine.status.state == .syncFailed)
            guard depth > 0 else { return }
            for event in events {
                var next = machine
                let action = next.handle(event)
                #expect(action == nil || next.status.state == .synchronizing)
                walk(next, depth - 1)
            }
        }
        walk(machine(), 4)
        #expect(seen.count == 4)
    }
}
