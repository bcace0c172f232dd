internal import SettleCore
internal import SettleDatabase

/// Maps documents by closures; several threads map pages of documents at the same time.
struct ClosureMapper<Key: Codable & Sendable, Value: Codable & Sendable>: ViewMapper {
    let map: View<Key, Value>.Map

    func start(_ documents: [DocumentRecord]) -> any ViewMapping {
        PageMapping(documents) { [map] in Self.emissions(of: $0, map) }
    }

    private static func emissions(of record: DocumentRecord, _ map: View<Key, Value>.Map) -> [Emission] {
        guard let input = MapInput(record) else { return [] }
        var emissions: [Emission] = []
        do {
            try map(input) { key, value in
                // A value that JSON can't represent, such as infinity, has no row.
                guard let key = ViewCoding.encode(key), let value = ViewCoding.encode(value) else { return }
                emissions.append(Emission(view: 0, key: key, value: value))
            }
        } catch { return [] }
        return emissions
    }
}
