import Settle
import Testing

/// Stores the documents of a recorded exchange, and replays its queries.
struct SelectorReplay {
    private var documents: [String: JSONValue] = [:]
    /// How many answers were compared.
    private(set) var compared = 0

    mutating func run(_ step: JSONValue, in file: String) {
        let place = "\(file): \(step["name"] ?? "")"
        let path = step["path"]?.string ?? ""
        switch (step["method"]?.string, path) {
        case ("POST", "/{db}/_bulk_docs"): load(step)
        case ("PUT", _) where path.hasPrefix("/{db}/") && step["expect"]?["status"]?.int == 201:
            let id = String(path.dropFirst("/{db}/".count))
            documents[id] = step["json"]
            documents[id]?["_id"] = .string(id)
        case ("DELETE", _) where step["expect"]?["json"]?["ok"] == true:
            guard let id = step["expect"]?["json"]?["id"], let name = id.string else { return }
            documents[name] = ["_id": id, "_deleted": true]
        case ("POST", "/{db}/_find"): find(step, place)
        case ("POST", "/{db}/_changes") where step["query"]?["filter"] == "_selector": feed(step, place)
        default: return
        }
    }

    private mutating func load(_ step: JSONValue) {
        let rows = step["expect"]?["json"]?.array ?? []
        for (index, document) in (step["json"]?["docs"]?.array ?? []).enumerated() {
            guard let id = document["_id"]?.string else { continue }
            documents[id] = document
            if rows.indices.contains(index) { documents[id]?["_rev"] = rows[index]["rev"] }
        }
    }

    // MARK: - Searches

    private mutating func find(_ step: JSONValue, _ place: String) {
        guard let json = step["json"]?["selector"], let answer = step["expect"]?["json"] else { return }
        guard step["expect"]?["status"]?.int == 200 else { return refuse(json, answer, place) }
        let options = Set(step["json"]?.object?.names ?? [])
        let expected = answer["docs"]?["$unordered"]?.array ?? answer["docs"]?.array ?? []
        guard options.isDisjoint(with: ["bookmark"]), let selector = selector(json, place) else { return }
        let limit = step["json"]?["limit"]?.int ?? 25
        let skip = step["json"]?["skip"]?.int ?? 0
        let found = documents.filter { !$0.key.hasPrefix("_design/") && selector.matches($0.value) }.keys
        let ids = Set(expected.compactMap { $0["_id"]?.string })
        if ids.count < expected.count || expected.count == limit || skip > 0 {
            // Which documents a page has depends on the query's order, and documents without an id can't be
            // distinguished.
            #expect(expected.count == min(limit, max(0, found.count - skip)), "\(place)")
            #expect(ids.isSubset(of: found), "\(place)")
        } else {
            #expect(ids == (selector.isVacuous ? [] : Set(found)), "\(place)")
        }
        compared += 1
    }

    private func selector(_ json: JSONValue, _ place: String) -> MangoSelector? {
        do { return try MangoSelector(json) } catch {
            Issue.record("\(place): \(error)")
            return nil
        }
    }

    /// Errors that are not about the selector are ignored: a search may be refused for its other options.
    private mutating func refuse(_ json: JSONValue, _ answer: JSONValue, _ place: String) {
        let ours = Self.failure(json)
        let codes: Set = [
            "invalid_selector_json", "invalid_selector", "invalid_operator", "not_supported", "bad_arg", "bad_field",
            "invalid_field_name",
        ]
        guard let name = answer["error"]?.string, codes.contains(name), ours != nil || json != [:] else { return }
        #expect(ours?.code.name == name, "\(place)")
        if let reason = answer["reason"]?.string { #expect(ours?.reason == reason, "\(place)") }
        if let start = answer["reason"]?["$prefix"]?.string {
            #expect(ours?.reason.hasPrefix(start) == true, "\(place)")
        }
        compared += 1
    }

    // MARK: - Feeds

    private mutating func feed(_ step: JSONValue, _ place: String) {
        guard let json = step["json"]?["selector"], let answer = step["expect"]?["json"] else { return }
        guard let rows = answer["results"]?.array else {
            if case .object = json { #expect(Self.failure(json)?.reason == answer["reason"]?.string, "\(place)") }
            compared += 1
            return
        }
        guard let selector = selector(json, place) else { return }
        let found = documents.filter { selector.matches($0.value) }.keys
        #expect(Set(rows.compactMap { $0["id"]?.string }) == Set(found), "\(place)")
        compared += 1
    }

    private static func failure(_ json: JSONValue) -> SelectorError? {
        do throws(SelectorError) {
            _ = try MangoSelector(json)
            return nil
        } catch { return error }
    }
}
