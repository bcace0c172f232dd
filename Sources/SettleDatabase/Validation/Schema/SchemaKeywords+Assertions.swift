import SettleCore

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

    /// A nonnegative count; `nil` if there is none.
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
