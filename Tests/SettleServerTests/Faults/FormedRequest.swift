import SettleTesting

@testable import SettleServer

/// A request of a known form, with its expected properties.
struct FormedRequest {
    /// The authenticated user.
    enum Sender { case admin, member, nobody }

    let bytes: [UInt8]
    let sender: Sender
    let method: String
    let target: String
    /// Whether it is well formed, so that it must be answered.
    let isWhole: Bool
    /// Whether its answer may be endless, or late.
    let isEndless: Bool

    /// Makes a request from a seed, with revisions that the server has returned.
    static func make(seed: UInt64, revisions: [String]) -> FormedRequest {
        var maker = FormedRequestMaker(grammar: Grammar(choices: SeededRandom(seed: seed), revisions: revisions))
        return maker.next()
    }
}
