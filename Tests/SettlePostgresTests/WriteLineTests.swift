import Testing

@testable import SettlePostgres

@Suite(.timeLimit(.minutes(1))) struct WriteLineTests {
    @Test func `a change set is let go of once it is committed`() {
        let line = WriteLine()
        weak var kept: WriteLine.Place?
        do {
            let place = WriteLine.Place(ChangeSet())
            kept = place
            guard case .lead(let others) = line.enter(place) else {
                Issue.record("a lone place leads")
                return
            }
            #expect(others.isEmpty)
            line.leave(unanswered: false)
        }
        #expect(kept == nil)
    }
}
