import SettleCore
import Testing

@Suite struct ThreeWayMergeKeepTests {
    @Test func `members stand in the winner's order, followed by those of the others`() throws {
        let outcome = try merge(
            #"{"a":1,"b":1}"#, #"{"w":1,"b":1,"a":1}"#, #"{"x":1,"a":1,"y":1,"b":1}"#, #"{"z":1,"x":1,"a":1,"b":1}"#)
        #expect(outcome.text == #"{"w":1,"b":1,"a":1,"x":1,"y":1,"z":1}"#)
    }

    @Test func `an outcome equal to a version is that version, in its spelling`() throws {
        #expect(try merge(#"{"a":1.0,"b":1}"#, #"{"a":1.0,"b":1}"#, #"{"a":1e0,"b":2}"#).text == #"{"a":1e0,"b":2}"#)
        #expect(try merge(#"{"a":1,"b":1}"#, #"{"b":2,"a":1}"#, #"{"a":1,"b":1}"#).text == #"{"b":2,"a":1}"#)
    }

    @Test func `a version that has all changes is kept though its members are ordered differently`() throws {
        let outcome = try merge(
            #"{"o":{"a":1}}"#, #"{"n":1,"o":{"b":1,"a":1}}"#, #"{"o":{"a":1,"c":1,"b":1},"n":1}"#)
        #expect(outcome.text == #"{"o":{"a":1,"c":1,"b":1},"n":1}"#)
    }

    @Test func `the first of several equal versions is kept`() throws {
        #expect(try merge(#"{"a":1}"#, #"{"a":2.0}"#, #"{"a":2e0}"#).text == #"{"a":2.0}"#)
        #expect(try merge(#"{"a":1}"#, #"{"a":1}"#, #"{"a":2e0}"#, #"{"a":2.0}"#).text == #"{"a":2e0}"#)
    }

    @Test func `moving members is a change`() throws {
        #expect(try merge(#"{"a":1,"b":1}"#, #"{"a":1,"b":1}"#, #"{"b":1,"a":1}"#).text == #"{"b":1,"a":1}"#)
        let outcome = try merge(
            #"{"o":{"a":1,"b":1}}"#, #"{"o":{"a":1,"b":1},"c":1}"#, #"{"o":{"b":1,"a":1},"d":1}"#)
        #expect(outcome.text == #"{"o":{"b":1,"a":1},"c":1,"d":1}"#)
    }

    @Test func `moving members alone causes no write`() throws {
        let outcome = try merge(#"{"o":{"a":1,"b":1}}"#, #"{"o":{"a":1,"b":1},"c":1}"#, #"{"o":{"b":1,"a":1}}"#)
        #expect(outcome.text == #"{"o":{"a":1,"b":1},"c":1}"#)
    }

    @Test func `a version without changes causes no write`() throws {
        let outcome = try merge(#"{"a":1}"#, #"{"a":1}"#, #"{"a":1}"#)
        #expect(outcome.text == #"{"a":1}"#)
        #expect(outcome.decisions.isEmpty)
    }
}
