extension JSONValue {
    /// Whether two values say the same: numbers are compared by value, and objects without the order of their members.
    ///
    /// `1`, `1.0` and `1e0` say the same, where `==` tells integers from floats.
    ///
    /// - Complexity: O(*n*) in bytes for objects whose members are in the same order, else O(*n* · *m*) for *m* members.
    package func hasSameMeaning(as other: JSONValue) -> Bool {
        switch (self, other) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)): left == right || JSONDecimal(left) == JSONDecimal(right)
        case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
        case (.array(let left), .array(let right)):
            left.count == right.count && zip(left, right).allSatisfy { $0.hasSameMeaning(as: $1) }
        case (.object(let left), .object(let right)): left.hasSameMeaning(as: right)
        default: false
        }
    }
}

extension JSONObject {
    /// Whether two objects have the same members, in any order, with values that say the same.
    package func hasSameMeaning(as other: JSONObject) -> Bool {
        guard count == other.count else { return false }
        return enumerated().allSatisfy { position, member in
            let twin = other[position]
            if twin.name.hasSameBytes(as: member.name) { return member.value.hasSameMeaning(as: twin.value) }
            return other[member.name].map { member.value.hasSameMeaning(as: $0) } ?? false
        }
    }
}
