/// What one connection may cost.
package struct BLIPLimits: Sendable {
    /// The bytes of one message; as many as the largest attachment has.
    package var largestMessage = MobileStub.largestContent
    /// The bytes of all messages that have come in part.
    package var mostIncoming = 32 << 20
    /// How many messages may have begun and not ended.
    package var mostOpen = 64
    /// How many requests may wait for an answer from here.
    package var mostUnanswered = 2048

    package init() {}
}
