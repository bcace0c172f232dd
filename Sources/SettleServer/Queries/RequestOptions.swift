internal import SettleCore
internal import SettleQuery

/// Reads the members of a request's body one by one, in CouchDB's order and with its error messages.
struct RequestOptions {
    private var rest: JSONObject

    init(_ members: JSONObject) { rest = members }

    /// Reads a member.
    mutating func remove(_ name: String) -> JSONValue? {
        defer { rest[name] = nil }
        return rest[name]
    }

    /// Reads a required member.
    mutating func require(_ name: String) throws -> JSONValue {
        guard let value = remove(name) else {
            throw HTTPError(400, "missing_required_key", "Missing required key: \(name)")
        }
        return value
    }

    /// Checks that no member is left.
    func end() throws {
        guard let member = rest.first else { return }
        throw HTTPError(400, "invalid_key", "Invalid key \(member.name) for this request.")
    }

    mutating func boolean(_ name: String, _ standard: Bool) throws -> Bool {
        guard let value = remove(name) else { return standard }
        guard let flag = value.bool else {
            throw HTTPError(400, "invalid_boolean", "Invalid boolean value: \(ErlangText.text(of: value))")
        }
        return flag
    }

    mutating func string(_ name: String) throws -> String? {
        guard let value = remove(name) else { return nil }
        guard let text = value.string else {
            throw HTTPError(400, "invalid_string", "Invalid string: \(ErlangText.text(of: value))")
        }
        return text
    }

    /// Reads the name of an index or of a design document.
    mutating func name(_ name: String) throws -> String? {
        let text = try string(name)
        if text?.isEmpty == true {
            throw HTTPError(400, "invalid_empty_string", "Index name or ddoc cannot be empty string")
        }
        return text
    }

    /// Reads a whole number of at least zero. A number that is too large to count is clamped.
    mutating func count(_ name: String, _ standard: Int) throws -> Int {
        guard let value = remove(name) else { return standard }
        guard let number = Self.integer(value), number >= 0 else {
            let shown = ErlangText.text(of: value)
            throw HTTPError(
                400, "invalid_non_neg_integer", "\(shown) is not an integer greater than or equal to zero")
        }
        return number
    }

    /// Reads a whole number greater than zero.
    mutating func positive(_ name: String, _ standard: Int) throws -> Int {
        guard let value = remove(name) else { return standard }
        guard let number = Self.integer(value), number > 0 else {
            throw HTTPError(
                400, "invalid_pos_integer", "\(ErlangText.text(of: value)) is not an integer greater than zero")
        }
        return number
    }

    private static func integer(_ value: JSONValue) -> Int? {
        guard let number = value.number, number.isInteger else { return nil }
        return number.int ?? (number.text.hasPrefix("-") ? nil : .max)
    }

    /// The parts of an index's name: the design document, and optionally the index in it.
    static func indexNames(_ value: JSONValue) throws -> [String] {
        if value.isNull { return [] }
        if let text = value.string {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
            switch parts.count {
            case 1: return parts
            case 2: return parts[0] == "_design" ? [parts[1]] : parts
            case 3 where parts[0] == "_design": return Array(parts.dropFirst())
            default: break
            }
        } else if let list = value.array, list.count < 3 {
            let names = list.compactMap(\.string)
            if names.count == list.count { return names }
        }
        throw HTTPError(400, "invalid_index_name", "Invalid index name: \(ErlangText.text(of: value))")
    }
}
