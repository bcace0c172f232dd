import SettleCore

/// The rules about arrays.
enum SchemaArrayRules {
    /// `uniqueItems`.
    struct UniqueRule: SchemaRule {
        func check(_ value: JSONValue, _ evaluation: inout SchemaEvaluation) {
            guard case .array(let elements) = value else { return }
            var seen: [[UInt8]: Int] = [:]
            for (index, element) in elements.enumerated() {
                if let earlier = seen.updateValue(index, forKey: SchemaCanonical.bytes(element)) {
                    return evaluation.report("uniqueItems", "elements \(earlier) and \(index) are equal")
                }
            }
        }
    }

    /// `prefixItems` and `items`.
    struct ItemsRule: SchemaRule {
        let prefix: [Int]
        let rest: Int?

        func check(_ value: JSONValue, _ evaluation: inout SchemaEvaluation) {
            guard case .array(let elements) = value else { return }
            for (index, element) in elements.enumerated() {
                guard let schema = index < prefix.count ? prefix[index] : rest else { return }
                evaluation.apply(schema, to: element, under: .index(index))
                evaluation.markElement(index)
            }
        }
    }

    /// `contains` with `minContains` and `maxContains`.
    struct ContainsRule: SchemaRule {
        let schema: Int
        let least: Int?
        let most: Int?

        func check(_ value: JSONValue, _ evaluation: inout SchemaEvaluation) {
            guard case .array(let elements) = value else { return }
            var count = 0
            for (index, element) in elements.enumerated()
            where evaluation.matches(schema, element, under: .index(index)) {
                count += 1
                evaluation.markElement(index)
            }
            if count < least ?? 1 {
                let message = "\(count) elements match, fewer than \(least ?? 1)"
                evaluation.report(least == nil ? "contains" : "minContains", message)
            }
            if let most, count > most { evaluation.report("maxContains", "\(count) elements match, more than \(most)") }
        }
    }

    /// `unevaluatedItems`; the last rule of its schema.
    struct UnevaluatedItemsRule: SchemaRule {
        let schema: Int

        func check(_ value: JSONValue, _ evaluation: inout SchemaEvaluation) {
            guard case .array(let elements) = value else { return }
            for (index, element) in elements.enumerated() where !evaluation.evaluated.elements.contains(index) {
                evaluation.apply(schema, to: element, under: .index(index))
                evaluation.markElement(index)
            }
        }
    }
}
