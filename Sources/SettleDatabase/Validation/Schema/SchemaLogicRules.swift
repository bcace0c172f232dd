import SettleCore

/// The rules that combine schemas.
enum SchemaLogicRules {
    /// `allOf`.
    struct AllRule: SchemaRule {
        let schemas: [Int]

        func check(_ value: JSONValue, _ evaluation: inout SchemaEvaluation) {
            for schema in schemas { evaluation.apply(schema, to: value) }
        }
    }

    /// `anyOf`.
    struct AnyRule: SchemaRule {
        let schemas: [Int]

        func check(_ value: JSONValue, _ evaluation: inout SchemaEvaluation) {
            var isMet = false
            for schema in schemas where evaluation.matches(schema, value) {
                isMet = true
                // Each matching subschema may have evaluated other members.
                if !evaluation.tracksEvaluated { return }
            }
            if !isMet { evaluation.report("anyOf", "none of \(schemas.count) schemas allows it") }
        }
    }

    /// `oneOf`.
    struct OneRule: SchemaRule {
        let schemas: [Int]

        func check(_ value: JSONValue, _ evaluation: inout SchemaEvaluation) {
            var count = 0
            for schema in schemas where evaluation.matches(schema, value) { count += 1 }
            if count != 1 { evaluation.report("oneOf", "\(count) of \(schemas.count) schemas allow it, not one") }
        }
    }

    /// `not`.
    struct NotRule: SchemaRule {
        let schema: Int

        func check(_ value: JSONValue, _ evaluation: inout SchemaEvaluation) {
            let matches = evaluation.withoutEvaluated { $0.matches(schema, value) }
            if matches { evaluation.report("not", "is allowed by a schema that must not allow it") }
        }
    }

    /// `if` with `then` and `else`.
    struct ConditionRule: SchemaRule {
        let condition: Int
        let then: Int?
        let otherwise: Int?

        func check(_ value: JSONValue, _ evaluation: inout SchemaEvaluation) {
            if let schema = evaluation.matches(condition, value) ? then : otherwise {
                evaluation.apply(schema, to: value)
            }
        }
    }
}
