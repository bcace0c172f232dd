@testable import SettleServer

/// A request made of a form, with what is known of it.
struct FormedRequest {
    /// Who sends it.
    enum Sender { case admin, member, nobody }

    let bytes: [UInt8]
    let sender: Sender
    let method: String
    let target: String
    /// Whether it is well formed, so that it has to be answered.
    let isWhole: Bool
    /// Whether its answer may go on for ever, or come late.
    let isEndless: Bool

    /// Makes one from a seed, with revisions that the server has told.
    static func make(seed: UInt64, revisions: [String]) -> FormedRequest {
        var maker = FormedRequestMaker(grammar: Grammar(choices: RandomChoices(seed: seed), revisions: revisions))
        return maker.next()
    }
}
