public import SettleCore

/// A type that may hold a string: `String`, an optional one, or any JSON.
public protocol TextValue {}

extension String: TextValue {}
extension JSON: TextValue {}
extension Optional: TextValue where Wrapped: TextValue {}
