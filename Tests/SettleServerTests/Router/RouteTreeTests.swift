import Testing

@testable import SettleServer

@Suite struct RouteTreeTests {
    private static let words = [
        "db", "_users", "_session", "_node", "_local", "_stats", "_config", "_scheduler", "docs", "_design", "_view",
        "queries", "_index", "_bulk_delete", "_all_docs", "_find", "_local/", "_update", "_info", "x",
    ]

    /// All paths of up to three of the words, and longer ones of a few of them.
    private static var paths: [[String]] {
        var found: [[String]] = [[]]
        for word in words {
            found.append([word])
            for second in words {
                found.append([word, second])
                for third in words { found.append([word, second, third]) }
            }
        }
        for third in words {
            for fourth in words {
                for first in ["db", "_node"] {
                    for second in ["_design", "_index", "_local", "x"] {
                        found.append([first, second, third, fourth])
                        for rest in [["x"], ["queries"], ["_view", "x"], ["x", "queries"], ["json", "x"]] {
                            found.append([first, second, third, fourth] + rest)
                        }
                    }
                }
            }
        }
        return found
    }

    @Test func `the tree finds the same route as trying one after the other`() {
        for path in Self.paths {
            let found = RoutingTable.tree.match(path)
            let first = RoutingTable.routes.first { $0.pattern.match(path) != nil }
            #expect((found?.route === first) as Bool, "\(path)")
            guard let found, let first, let parameters = first.pattern.match(path) else { continue }
            #expect(found.parameters["db"] == parameters["db"])
            #expect(found.parameters["file"] == parameters["file"])
        }
    }

    @Test func `no route is hidden by another of the same form`() {
        for route in RoutingTable.routes {
            let path = route.pattern.parts.flatMap { part in
                switch part {
                case .word(let word): [word]
                case .any: ["anything"]
                case .rest: ["anything", "else"]
                }
            }
            #expect(RoutingTable.tree.match(path)?.route === route, "\(path)")
        }
    }
}
