/// A request as a ``FaultPlan`` sees it.
public struct FaultRequest: Hashable, Sendable {
    /// How many requests came before it that the plan is for.
    public let number: Int
    /// Its method, as `PUT`.
    public let method: String
    /// Its path with the query, as it was sent.
    public let path: String

    /// Makes a request.
    public init(number: Int, method: String, path: String) {
        self.number = number
        self.method = method
        self.path = path
    }

    /// Whether one of the parts of the path, without the query, is this.
    ///
    /// - Complexity: O(*n*) in the length of the path.
    public func has(_ part: String) -> Bool {
        path.prefix { $0 != "?" }.split(separator: "/").contains { $0 == part }
    }
}
