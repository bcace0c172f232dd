internal import Settle

/// A function or module of a design document, and the file it is in.
struct DesignScript {
    /// The names that lead to it in the document.
    let path: [String]
    /// The file, as messages name it.
    let file: String
    let text: String

    /// Whether it is a module that functions require, and no function itself.
    var isModule: Bool { !Self.isFunction(path) }

    /// Whether a member of a design document is the source of a function.
    static func isFunction(_ path: [String]) -> Bool {
        switch path.first {
        case "validate_doc_update", "rewrites": path.count == 1
        case "filters", "updates", "shows", "lists": path.count == 2
        case "views": path.count == 3 && path[1] != "lib" && ["map", "reduce"].contains(path[2])
        default: false
        }
    }

    /// Whether a member of a design document is a script, of which a file with `.js` at its end is made.
    static func isScript(_ path: [String]) -> Bool {
        isFunction(path) || path.first == "lib" || path.starts(with: ["views", "lib"])
    }
}
