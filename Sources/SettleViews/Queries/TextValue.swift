public import RevisionTree

/// What may be a text: a text, one that may be missing, or any JSON.
public protocol TextValue {}

extension String: TextValue {}
extension JSON: TextValue {}
extension Optional: TextValue where Wrapped: TextValue {}
