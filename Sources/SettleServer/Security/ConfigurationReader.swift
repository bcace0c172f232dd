internal import SettleCore
internal import SettleDatabase

/// Reads members of a configuration, and reports unknown ones.
///
/// Messages name members, never values, which may be secrets.
final class ConfigurationReader {
    private var members: [String: JSONValue]
    private static let most = 1_000_000_000

    init(utf8 bytes: [UInt8]) throws {
        guard let object = (try? JSONValue(utf8: bytes))?.object else { throw Self.failure("it must be a JSON object") }
        members = Dictionary(object.map { ($0.name, $0.value) }) { $1 }
    }

    private init(_ object: JSONObject) { members = Dictionary(object.map { ($0.name, $0.value) }) { $1 } }

    /// An error about a configuration.
    static func failure(_ what: String) -> DatabaseError { DatabaseError(.invalid, "the configuration: \(what)") }

    func text(_ name: String) throws -> String? { try take(name, "text", \.string) }

    func flag(_ name: String) throws -> Bool? { try take(name, "true or false", \.bool) }

    func count(_ name: String, from least: Int = 1) throws -> Int? {
        try take(name, "a whole number from \(least) to \(Self.most)") { value in
            value.int.flatMap { (least...Self.most).contains($0) ? $0 : nil }
        }
    }

    /// A time in whole seconds.
    func seconds(_ name: String, from least: Int = 1) throws -> Duration? {
        try count(name, from: least).map { .seconds($0) }
    }

    func texts(_ name: String) throws -> [String]? {
        try take(name, "a list of text") { value in
            guard let list = value.array else { return nil }
            let texts = list.compactMap(\.string)
            return texts.count == list.count ? texts : nil
        }
    }

    func choice<Value>(_ name: String, _ values: [String: Value]) throws -> Value? {
        try take(name, "one of \(values.keys.sorted().joined(separator: ", "))") { $0.string.flatMap { values[$0] } }
    }

    func inner(_ name: String) throws -> ConfigurationReader? {
        try take(name, "an object") { $0.object.map(ConfigurationReader.init) }
    }

    func inners(_ name: String) throws -> [ConfigurationReader]? {
        try take(name, "a list of objects") { value in
            guard let list = value.array else { return nil }
            let objects = list.compactMap(\.object)
            return objects.count == list.count ? objects.map(ConfigurationReader.init) : nil
        }
    }

    /// Checks that every member was read.
    func finish() throws {
        if let name = members.keys.min() { throw Self.failure("`\(name)` is not known") }
    }

    private func take<Value>(_ name: String, _ kind: String, _ read: (JSONValue) -> Value?) throws -> Value? {
        guard let value = members.removeValue(forKey: name) else { return nil }
        guard let read = read(value) else { throw Self.failure("`\(name)` must be \(kind)") }
        return read
    }
}
