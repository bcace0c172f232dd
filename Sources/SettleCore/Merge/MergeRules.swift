/// The rules that decide clashes, by field.
///
///     var rules = MergeRules(fields: ["/stock": .sum, "/tags": .union, "/owner": .leave])
///     rules["/address/city"] = .winner
///
/// A field is named by its JSON Pointer (RFC 6901): the names on the path to it, each after a slash, with `~0` for a
/// tilde and `~1` for a slash inside a name. Names are matched byte by byte. There are no wildcards.
///
/// A rule for a field that is an object decides about the object as a whole. Without one, objects are merged field
/// by field, and only values that can't be merged further clash.
public struct MergeRules: Sendable {
    /// The rule for all fields without their own.
    public var onClash: MergeRule
    private var fields: [[UInt8]: MergeRule] = [:]
    /// The paths of counters and of all objects around them.
    private var countersAndAround: Set<[UInt8]> = []

    /// Makes a set of rules.
    ///
    /// - Parameters:
    ///   - onClash: The rule for fields without their own. If it does not fit, ``MergeRule/winner`` decides.
    ///   - fields: Rules by JSON Pointer.
    public init(onClash: MergeRule = .winner, fields: [String: MergeRule] = [:]) {
        self.onClash = onClash
        for (path, rule) in fields { self.fields[Array(path.utf8)] = rule }
        findCounters()
    }

    /// The rule of one field, `nil` for none; the field is named by its JSON Pointer.
    public subscript(path: String) -> MergeRule? {
        get { fields[Array(path.utf8)] }
        set {
            fields[Array(path.utf8)] = newValue
            findCounters()
        }
    }

    /// The fields that have rules of their own, ordered by the bytes of their paths.
    public var paths: [String] {
        fields.keys.sorted { $0.lexicographicallyPrecedes($1) }.map { String(decoding: $0, as: UTF8.self) }
    }

    /// The ``paths`` that name no field and so have no effect; for rules entered by a user.
    public var badPaths: [String] { paths.filter { !MergePath.isPointer($0) } }

    /// Whether a field is a counter, or may contain one.
    func mayCount(_ path: MergePath) -> Bool {
        !countersAndAround.isEmpty && countersAndAround.contains(Array(path.rule.utf8))
    }

    private mutating func findCounters() {
        countersAndAround = []
        for (path, rule) in fields {
            guard case .sum = rule else { continue }
            countersAndAround.insert(path)
            for (index, byte) in path.enumerated() where byte == UInt8(ascii: "/") {
                countersAndAround.insert(Array(path[..<index]))
            }
        }
    }
}
