internal import SettlePlatform

/// The header fields of a request or a response, in order; names are matched whatever their case.
struct HTTPHeaders: Sendable, ExpressibleByDictionaryLiteral {
    private(set) var fields: [(name: String, value: String)]

    init() { fields = [] }

    init(dictionaryLiteral elements: (String, String)...) { fields = elements.map { (name: $0.0, value: $0.1) } }

    /// The first value of a name; setting replaces all of them.
    subscript(name: String) -> String? {
        get { fields.first { Self.matches($0.name, name) }?.value }
        set {
            fields.removeAll { Self.matches($0.name, name) }
            if let newValue { fields.append((name, newValue)) }
        }
    }

    /// Adds a field beside those of the same name.
    mutating func add(_ name: String, _ value: String) { fields.append((name, value)) }

    /// The part of a field in front of its parameters, without blanks around it.
    func bare(_ name: String) -> String? {
        self[name].map { String($0.prefix { $0 != ";" }).trimmingBlanks() }
    }

    /// The value of a cookie; of those with one name the first counts.
    func cookie(_ name: String) -> String? {
        for field in fields where Self.matches(field.name, "Cookie") {
            for pair in field.value.split(separator: ";") {
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                if parts.count == 2, String(parts[0]).trimmingBlanks() == name {
                    return String(parts[1]).trimmingBlanks().filter { $0 != "\"" }
                }
            }
        }
        return nil
    }

    private static func matches(_ left: String, _ right: String) -> Bool {
        left.utf8.count == right.utf8.count
            && zip(left.utf8, right.utf8).allSatisfy { lowercased($0) == lowercased($1) }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
    }
}

// MARK: - MediaTypes

/// The media types that a client accepts.
enum MediaTypes {
    /// Whether a type is accepted, as CouchDB decides it: by its name or a star; quality counts only if it is 0.
    static func accepts(_ type: String, _ request: HTTPRequest) -> Bool {
        guard let header = request.headers["Accept"] else { return true }
        let main = type.prefix { $0 != "/" }
        return header.split(separator: ",").contains { item in
            let parts = item.split(separator: ";").map { String($0).trimmingBlanks() }
            guard let name = parts.first else { return false }
            if parts.dropFirst().contains(where: { $0 == "q=0" || $0 == "q=0.0" }) { return false }
            return name == type || name == "*/*" || name == "\(main)/*"
        }
    }
}
