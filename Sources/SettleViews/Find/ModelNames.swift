internal import SettleCore
internal import SettleDatabase
internal import SettlePlatform

/// Finds the members that properties of a model are decoded from.
///
/// A model is decoded from made-up values: once from plain ones, and once for each member with another value for that one. The
/// members of a property are those whose other value changes it.
///
///     members decoded      name = "a"  years = 0     name = "b"  years = 0     name = "a"  years = 1
///     \.age reads          0                         0                         1  →  \.age is "years"
///
/// The name of the property is the path that these members have in common, or a shorter one, at which exactly what the property
/// reads was decoded: each time, so that a property that is computed of a member is not taken for it. The instances are kept for
/// each model: *n* + 1 for *n* members.
enum ModelNames {
    /// The path of the member, escaped for selectors, or an error that says what to do.
    static func path<Model: Decodable, Value>(of property: KeyPath<Model, Value>) -> Result<String, QueryError> {
        if let model = Model.self as? any Queryable.Type, let name = given(model)[property] {
            return .success(escaped([name]))
        }
        do {
            let samples = try samples(of: Model.self)
            let plain = text(samples[0].instance[keyPath: property])
            let changed = samples.filter { text($0.instance[keyPath: property]) != plain }
            let common = changed.dropFirst().reduce(changed.first?.path ?? []) { path, sample in
                Array(zip(path, sample.path).prefix { $0 == $1 }.map(\.0))
            }
            let paths = common.indices.map { Array(common[...$0]) }
            let own = paths.first { path in
                (samples.prefix(1) + changed).allSatisfy { sample in
                    sample.values[path].map(text) == text(sample.instance[keyPath: property])
                }
            }
            return own.map { .success(escaped($0)) }
                ?? .failure(unknown(Model.self, property, "it is not one member of the document"))
        } catch {
            return .failure(unknown(Model.self, property, "the model can't be decoded from made-up values: \(error)"))
        }
    }

    private static func unknown(_ model: Any.Type, _ property: AnyKeyPath, _ reason: String) -> QueryError {
        QueryError(
            .unknownField,
            "the name of \(property) is not known, for \(reason); list it in \(model).fieldNames (see Queryable), or name it: "
                + "$0[\"name\"]")
    }

    private static func given<Model: Queryable>(_ model: Model.Type) -> [AnyKeyPath: String] {
        Dictionary(uniqueKeysWithValues: model.fieldNames.map { ($0.key as AnyKeyPath, $0.value) })
    }

    private static func escaped(_ path: [String]) -> String {
        path.map { $0.replacing(".", with: "\\.") }.joined(separator: ".")
    }

    /// A value as text; an optional one as what it contains.
    private static func text(_ value: Any) -> String {
        let mirror = Mirror(reflecting: value)
        guard mirror.displayStyle == .optional, let inside = mirror.children.first?.value else {
            return String(reflecting: value)
        }
        return text(inside)
    }
}

extension ModelNames {
    /// An instance, the member that got another value, empty for none, and what the members were decoded as.
    private struct Sample<Model> {
        let path: [String]
        let instance: Model
        let values: [[String]: Any]
    }

    /// The samples of models, by type. They are made by their models' own code and only read, under the lock of `known`.
    private struct Known: @unchecked Sendable {
        var samples: [ObjectIdentifier: Any] = [:]
    }

    private static let known = Guarded(Known())

    /// The samples of a model; the first is the plain one.
    private static func samples<Model: Decodable>(of model: Model.Type) throws -> [Sample<Model>] {
        let id = ObjectIdentifier(model)
        if let known = known.withLock({ $0.samples[id] }) as? [Sample<Model>] { return known }
        let plain = SampleRecorder()
        var samples = [Sample(path: [], instance: try SampleDecoder(plain).decode(model), values: plain.values)]
        for (place, path) in plain.paths.enumerated() {
            let recorder = SampleRecorder(other: place)
            let instance = try SampleDecoder(recorder).decode(model)
            samples.append(Sample(path: path, instance: instance, values: recorder.values))
        }
        known.withLock { $0.samples[id] = samples }
        return samples
    }
}
