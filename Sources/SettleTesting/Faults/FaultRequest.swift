/// A request as the input of a ``FaultPlan``.
public struct FaultRequest: Hashable, Sendable {
    /// The number of earlier requests that the plan accepted.
    public let number: Int
    /// Its method, such as `PUT`.
    public let method: String
    /// Its path with the query, as it was sent.
    public let path: String

    /// Makes a request.
    public init(number: Int, method: String, path: String) {
        self.number = number
        self.method = method
        self.path = path
    }

    /// Whether the path, without the query, has this component.
    ///
    /// - Complexity: O(*n*) in the length of the path.
    public func has(_ part: String) -> Bool {
        path.prefix { $0 != "?" }.split(separator: "/").contains { $0 == part }
    }
}
