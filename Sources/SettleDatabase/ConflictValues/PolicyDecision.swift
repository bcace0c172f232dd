/// A policy's decision about a conflict, with the reason.
public struct PolicyDecision: Sendable {
    /// The resolution of the conflict.
    public var resolution: Resolution
    /// The reason, in human-readable form.
    public var reason: String
    /// The decisions about single fields, if the policy merges.
    public var fields: [FieldDecision]
    /// Whether the policy answered differently when called a second time.
    public internal(set) var isImpure = false

    /// Creates a decision.
    public init(_ resolution: Resolution, reason: String = "", fields: [FieldDecision] = []) {
        self.resolution = resolution
        self.reason = reason
        self.fields = fields
    }
}
