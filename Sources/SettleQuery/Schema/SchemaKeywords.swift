import SettleCore

/// Compiles the keywords of one schema object, in the order of its members.
struct SchemaKeywords {
    let members: JSONObject
    let path: String
    let checksFormats: Bool
    private(set) var rules: [any SchemaRule] = []
    /// The subschemas that are applied to the same value.
    private(set) var inPlace: [Int] = []

    init(members: JSONObject, path: String, checksFormats: Bool) {
        self.members = members
        self.path = path
        self.checksFormats = checksFormats
    }

    /// Compiles all keywords. Those that depend on the parts evaluated by other keywords come last.
    mutating func compile(_ compiler: inout SchemaCompiler) throws(SchemaError) {
        var hasProperties = false
        for name in members.names {
            switch name {
            case "properties", "patternProperties", "additionalProperties":
                if !hasProperties { rules.append(try properties(&compiler)) }
                hasProperties = true
            case "$defs": _ = try named(name, &compiler)
            default: try compileAssertion(name) ? () : compileApplicator(name, &compiler)
            }
        }
        if members["prefixItems"] != nil || members["items"] != nil {
            let prefix = members["prefixItems"] == nil ? [] : try list("prefixItems", &compiler)
            rules.append(SchemaArrayRules.ItemsRule(prefix: prefix, rest: try optional("items", &compiler)))
        }
        if let schema = try optional("unevaluatedItems", &compiler) {
            rules.append(SchemaArrayRules.UnevaluatedItemsRule(schema: schema))
        }
        if let schema = try optional("unevaluatedProperties", &compiler) {
            rules.append(SchemaObjectRules.UnevaluatedPropertiesRule(schema: schema))
        }
    }

    /// Adds a rule.
    mutating func add(_ rule: any SchemaRule) { rules.append(rule) }

    private mutating func compileApplicator(_ name: String, _ compiler: inout SchemaCompiler) throws(SchemaError) {
        switch name {
        case "allOf": add(SchemaLogicRules.AllRule(schemas: try list(name, &compiler, inPlace: true)))
        case "anyOf": add(SchemaLogicRules.AnyRule(schemas: try list(name, &compiler, inPlace: true)))
        case "oneOf": add(SchemaLogicRules.OneRule(schemas: try list(name, &compiler, inPlace: true)))
        case "not": add(SchemaLogicRules.NotRule(schema: try single(name, &compiler, inPlace: true)))
        case "if":
            let condition = try single(name, &compiler, inPlace: true)
            let then = try optional("then", &compiler, inPlace: true)
            let otherwise = try optional("else", &compiler, inPlace: true)
            add(SchemaLogicRules.ConditionRule(condition: condition, then: then, otherwise: otherwise))
        case "then", "else": if members["if"] == nil { _ = try single(name, &compiler) }
        case "dependentSchemas":
            for (trigger, schema) in try named(name, &compiler) {
                inPlace.append(schema)
                add(SchemaObjectRules.DependentSchemaRule(trigger: trigger, schema: schema))
            }
        case "propertyNames": add(SchemaObjectRules.PropertyNamesRule(schema: try single(name, &compiler)))
        case "contains":
            let least = try count("minContains")
            let most = try count("maxContains")
            add(SchemaArrayRules.ContainsRule(schema: try single(name, &compiler), least: least, most: most))
        case "minContains", "maxContains": _ = try count(name)
        default: break
        }
    }

    private func properties(_ compiler: inout SchemaCompiler) throws(SchemaError) -> SchemaObjectRules.PropertiesRule {
        let schemas = members["properties"] == nil ? [] : try named("properties", &compiler)
        var places = JSONObject()
        for (place, property) in schemas.enumerated() { places[property.name] = .number(JSONNumber(place)) }
        var patterns: [SchemaObjectRules.PropertiesRule.Pattern] = []
        if members["patternProperties"] != nil {
            for (name, schema) in try named("patternProperties", &compiler) {
                let compiled = try pattern(name, at: "\(path)/patternProperties/\(SchemaPointer.escape(name))")
                patterns.append(SchemaObjectRules.PropertiesRule.Pattern(pattern: compiled, schema: schema))
            }
        }
        return SchemaObjectRules.PropertiesRule(
            named: places, schemas: schemas.map(\.schema), patterns: patterns,
            additional: try optional("additionalProperties", &compiler))
    }

    // MARK: Subschemas

    private mutating func single(
        _ name: String, _ compiler: inout SchemaCompiler, inPlace isInPlace: Bool
    ) throws(SchemaError) -> Int {
        let schema = try single(name, &compiler)
        if isInPlace { inPlace.append(schema) }
        return schema
    }

    private func single(_ name: String, _ compiler: inout SchemaCompiler) throws(SchemaError) -> Int {
        try compiler.node(members[name] ?? true, at: "\(path)/\(name)")
    }

    private func optional(_ name: String, _ compiler: inout SchemaCompiler) throws(SchemaError) -> Int? {
        members[name] == nil ? nil : try single(name, &compiler)
    }

    private mutating func optional(
        _ name: String, _ compiler: inout SchemaCompiler, inPlace isInPlace: Bool
    ) throws(SchemaError) -> Int? {
        members[name] == nil ? nil : try single(name, &compiler, inPlace: isInPlace)
    }

    private mutating func list(
        _ name: String, _ compiler: inout SchemaCompiler, inPlace isInPlace: Bool = false
    ) throws(SchemaError) -> [Int] {
        guard case .array(let schemas)? = members[name], !schemas.isEmpty else {
            throw SchemaError(.malformed, "\(name) must be an array of schemas", at: "\(path)/\(name)")
        }
        var nodes: [Int] = []
        for (index, schema) in schemas.enumerated() {
            nodes.append(try compiler.node(schema, at: "\(path)/\(name)/\(index)"))
        }
        if isInPlace { inPlace += nodes }
        return nodes
    }

    private func named(
        _ name: String, _ compiler: inout SchemaCompiler
    ) throws(SchemaError) -> [(name: String, schema: Int)] {
        guard case .object(let schemas)? = members[name] else {
            throw SchemaError(.malformed, "\(name) must be an object of schemas", at: "\(path)/\(name)")
        }
        var nodes: [(name: String, schema: Int)] = []
        for member in schemas {
            let place = "\(path)/\(name)/\(SchemaPointer.escape(member.name))"
            nodes.append((member.name, try compiler.node(member.value, at: place)))
        }
        return nodes
    }
}

extension SchemaKeywords {
    /// Rejects keywords that assert something unsupported, or whose meaning differs between drafts.
    static func refuse(_ name: String, in members: JSONObject, at path: String) throws(SchemaError) {
        let reason: String
        switch name {
        case "$schema":
            let draft = members[name]?.string
            if draft == "https://json-schema.org/draft/2020-12/schema" { return }
            if draft == "https://json-schema.org/draft/2020-12/schema#" { return }
            reason = "only draft 2020-12 is supported"
        case "$id":
            if path.isEmpty { return }
            reason = "only the root may have one; use $anchor"
        case "$dynamicRef", "$recursiveRef": reason = "use $ref"
        case "$recursiveAnchor": reason = "use $anchor"
        case "$vocabulary": reason = "there are no vocabularies of one's own"
        case "dependencies": reason = "use dependentRequired or dependentSchemas"
        case "additionalItems": reason = "use prefixItems and items"
        case "items":
            guard case .array? = members[name] else { return }
            reason = "use prefixItems for a list of schemas"
        case "divisibleBy": reason = "use multipleOf"
        case "disallow": reason = "use not"
        case "extends": reason = "use allOf"
        default: return
        }
        throw SchemaError(
            .unsupported, "\(name) is not supported: \(reason)", at: "\(path)/\(SchemaPointer.escape(name))")
    }
}

// MARK: - Assertions

extension SchemaKeywords {
    /// Compiles a keyword without subschemas; false if it is invalid.
    mutating func compileAssertion(_ name: String) throws(SchemaError) -> Bool {
        switch name {
        case "type": add(SchemaValueRules.TypeRule(names: try types()))
        case "enum": add(SchemaValueRules.EnumRule(name, try array(name)))
        case "const": add(SchemaValueRules.EnumRule(name, [members[name] ?? .null]))
        case "maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum":
            add(SchemaNumberRules.BoundRule(name, try number(name)))
        case "multipleOf":
            guard let rule = SchemaNumberRules.MultipleRule(try number(name)) else {
                throw malformed(name, "must be a number above zero, of 18 digits at most")
            }
            add(rule)
        case "maxLength", "minLength", "maxItems", "minItems", "maxProperties", "minProperties":
            if let bound = try count(name) { add(SchemaValueRules.CountRule(keyword: name, bound: bound)) }
        case "uniqueItems":
            guard case .bool(let isUnique)? = members[name] else { throw malformed(name, "must be a boolean") }
            if isUnique { add(SchemaArrayRules.UniqueRule()) }
        case "pattern":
            guard case .string(let text)? = members[name] else { throw malformed(name, "must be a string") }
            add(SchemaValueRules.PatternRule(text: text, pattern: try pattern(text, at: "\(path)/pattern")))
        case "format" where checksFormats:
            guard case .string(let text)? = members[name] else { throw malformed(name, "must be a string") }
            guard let format = SchemaFormat(rawValue: text) else {
                throw SchemaError(.unsupported, "the format \(text) can't be checked", at: "\(path)/format")
            }
            add(SchemaFormatRule(format: format))
        case "required":
            add(SchemaObjectRules.RequiredRule(trigger: nil, names: try names(members[name] ?? .null, of: name)))
        case "dependentRequired":
            guard case .object(let triggers)? = members[name] else { throw malformed(name, "must be an object") }
            for trigger in triggers {
                add(SchemaObjectRules.RequiredRule(trigger: trigger.name, names: try names(trigger.value, of: name)))
            }
        default: return false
        }
        return true
    }

    /// Compiles a pattern.
    func pattern(_ text: String, at place: String) throws(SchemaError) -> SchemaPattern {
        do {
            return try SchemaPattern(text)
        } catch {
            throw SchemaError(.malformed, "the pattern \(text) cannot be used (\(error))", at: place)
        }
    }

    /// A nonnegative count; `nil` if the member is missing.
    func count(_ name: String) throws(SchemaError) -> Int? {
        guard let value = members[name] else { return nil }
        guard case .number(let number) = value, let text = JSONDecimal(number).integerText, !text.hasPrefix("-") else {
            throw malformed(name, "must be an integer that is not negative")
        }
        return Int(text) ?? .max
    }

    private func types() throws(SchemaError) -> [String] {
        let types: [String]
        if case .string(let single)? = members["type"] {
            types = [single]
        } else {
            types = try names(members["type"] ?? .null, of: "type")
        }
        guard !types.isEmpty, types.allSatisfy(SchemaValueRules.TypeRule.names.contains) else {
            throw malformed("type", "must be one or more of \(SchemaValueRules.TypeRule.names.joined(separator: ", "))")
        }
        return types
    }

    private func number(_ name: String) throws(SchemaError) -> JSONNumber {
        guard case .number(let number)? = members[name] else { throw malformed(name, "must be a number") }
        return number
    }

    private func array(_ name: String) throws(SchemaError) -> [JSONValue] {
        guard case .array(let values)? = members[name] else { throw malformed(name, "must be an array") }
        return values
    }

    private func names(_ value: JSONValue, of keyword: String) throws(SchemaError) -> [String] {
        let names = value.array?.compactMap(\.string)
        guard let names, names.count == value.array?.count else {
            throw malformed(keyword, "must be an array of strings")
        }
        return names
    }

    private func malformed(_ name: String, _ message: String) -> SchemaError {
        SchemaError(.malformed, "\(name) \(message)", at: "\(path)/\(name)")
    }
}
