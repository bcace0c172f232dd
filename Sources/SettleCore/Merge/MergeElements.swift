/// The elements of an array in the base and in all versions, by identity.
struct MergeElements {
    /// The identities of all elements, in the order of the merge.
    let order: [JSONValue]
    /// The elements of the base, then of each version.
    private let elements: [[JSONValue: JSONValue]]

    /// Reads the arrays of a clash.
    ///
    /// - Complexity: O(*n*) in bytes.
    init(_ member: MergeMember, identifiedBy name: String) throws(MergeMisfit) {
        if member.isRemoved { throw .removed }
        var elements: [[JSONValue: JSONValue]] = []
        var identities: [[JSONValue]] = []
        for value in [member.base] + member.versions {
            guard let array = (value ?? []).array else { throw .notArrays }
            var found: [JSONValue: JSONValue] = [:]
            var order: [JSONValue] = []
            for element in array {
                guard let identity = element.object?[name], identity.string != nil || identity.number != nil,
                    found.updateValue(element, forKey: identity) == nil
                else { throw .noIdentity }
                order.append(identity)
            }
            elements.append(found)
            identities.append(order)
        }
        self.elements = elements
        order = Self.order(of: identities)
    }

    /// The element of the base and of each version, `nil` where it is absent.
    func values(of identity: JSONValue) -> [JSONValue?] { elements.map { $0[identity] } }

    /// The order of the first version that moved elements of the base, or of the first version; then elements of the
    /// others.
    private static func order(of identities: [[JSONValue]]) -> [JSONValue] {
        let base = identities.first ?? []
        let versions = identities.dropFirst()
        let positions = Dictionary(base.enumerated().map { ($0.element, $0.offset) }, uniquingKeysWith: min)
        let lead = versions.first { version in
            let kept = version.compactMap { positions[$0] }
            return zip(kept, kept.dropFirst()).contains { $0 > $1 }
        }
        var seen: Set<JSONValue> = []
        return ([lead ?? []] + versions + [base]).joined().filter { seen.insert($0).inserted }
    }
}
