/// What one connection may cost.
package struct BLIPLimits: Sendable {
    /// The bytes of one message: the largest content, and its properties.
    package var largestMessage = MobileStub.largestContent + BLIPMessage.mostPropertyBytes
    /// The bytes of a request that are kept. The rest of a longer one is read past, and it is answered 413; `nil` if a longer
    /// one breaks the protocol.
    package var largestRequest: Int?
    /// The bytes of all messages that have come in part.
    package var mostIncoming = 48 << 20
    /// The bytes of such messages from which on only one of them is acknowledged, so that the others wait at their sender.
    package var mostAtOnce = 8 << 20
    /// How many messages may have begun and not ended.
    package var mostOpen = 64
    /// How many requests may wait for an answer from here.
    package var mostUnanswered = 2048

    package init() {}
}
