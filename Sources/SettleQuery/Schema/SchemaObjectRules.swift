import SettleCore

/// The rules about objects.
enum SchemaObjectRules {
    /// `required` and `dependentRequired`.
    struct RequiredRule: SchemaRule {
        /// The member whose presence requires the named ones; `nil` for `required`.
        let trigger: String?
        let names: [String]

        func check(_ value: JSONValue, _ evaluation: inout SchemaEvaluation) {
            guard case .object(let members) = value else { return }
            if let trigger, members[trigger] == nil { return }
            for name in names where members[name] == nil {
                guard let trigger else {
                    evaluation.report("required", "there is no member \"\(name)\"")
                    continue
                }
                evaluation.report("dependentRequired", "there is \"\(trigger)\" but no member \"\(name)\"")
            }
        }
    }

    /// `dependentSchemas`.
    struct DependentSchemaRule: SchemaRule {
        let trigger: String
        let schema: Int

        func check(_ value: JSONValue, _ evaluation: inout SchemaEvaluation) {
            guard case .object(let members) = value, members[trigger] != nil else { return }
            evaluation.apply(schema, to: value)
        }
    }

    /// `properties`, `patternProperties` and `additionalProperties`.
    struct PropertiesRule: SchemaRule {
        struct Pattern {
            let pattern: SchemaPattern
            let schema: Int
        }

        let named: JSONObject
        let schemas: [Int]
        let patterns: [Pattern]
        let additional: Int?

        func check(_ value: JSONValue, _ evaluation: inout SchemaEvaluation) {
            guard case .object(let members) = value else { return }
            for (position, member) in members.enumerated() {
                var matching = patterns.filter { $0.pattern.isFound(in: member.name) }.map(\.schema)
                if let place = named[member.name]?.int { matching.insert(schemas[place], at: 0) }
                if matching.isEmpty, let additional { matching = [additional] }
                for schema in matching { evaluation.apply(schema, to: member.value, under: .name(member.name)) }
                if !matching.isEmpty { evaluation.markMember(position) }
            }
        }
    }

    /// `propertyNames`.
    struct PropertyNamesRule: SchemaRule {
        let schema: Int

        func check(_ value: JSONValue, _ evaluation: inout SchemaEvaluation) {
            guard case .object(let members) = value else { return }
            for member in members where !evaluation.matches(schema, .string(member.name), under: .name(member.name)) {
                evaluation.report("propertyNames", "the name \"\(member.name)\" is not allowed")
            }
        }
    }

    /// `unevaluatedProperties`; the last rule of its schema.
    struct UnevaluatedPropertiesRule: SchemaRule {
        let schema: Int

        func check(_ value: JSONValue, _ evaluation: inout SchemaEvaluation) {
            guard case .object(let members) = value else { return }
            for (position, member) in members.enumerated() where !evaluation.evaluated.members.contains(position) {
                evaluation.apply(schema, to: member.value, under: .name(member.name))
                evaluation.markMember(position)
            }
        }
    }
}

// MARK: - SchemaArrayRules

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
