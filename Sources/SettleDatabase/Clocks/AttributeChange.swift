package import SettleCore

/// A change of one attribute of an object, with the moment it was made at: what a thin client has to send.
package struct AttributeChange: Sendable {
    /// The attribute: a top-level member's name.
    package let name: String
    /// The value it was changed to; `nil` when it was removed.
    package let value: JSON?
    /// When it was changed.
    package let moment: AttributeClock

    /// Makes a change.
    package init(_ name: String, _ value: JSON?, at moment: AttributeClock) {
        self.name = name
        self.value = value
        self.moment = moment
    }

    /// What became of a change.
    package enum Outcome: Sendable, Hashable {
        /// The object has the value now, or had it already.
        case applied
        /// A later change stays: the value the attribute has, `nil` for none, and when it got it.
        case superseded(by: JSON?, at: AttributeClock?)
        /// The object is deleted and stays so; when it was deleted, if that is known.
        case deleted(at: AttributeClock?)
    }
}
