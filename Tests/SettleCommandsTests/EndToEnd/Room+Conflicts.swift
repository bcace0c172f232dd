import Settle
import Testing

extension Room {
    /// Creates two databases, `a` and `b`, from the same documents, edits them independently and exchanges the edits:
    ///
    ///     milk    a: count 3, note gone           b: count 5, other name, an attachment
    ///     bread   a: price                        b: weight
    ///     gone    a: deleted                      b: edited
    ///
    /// Returns the revision that both started from, by document.
    @discardableResult
    func makeConflicts() throws -> [String: String] {
        try run("create", "a")
        let milk = try run("put", "a", "milk", #"{"name":"Milk","count":1,"note":"?","shop":"corner"}"#).line
        let bread = try run("put", "a", "bread", #"{"price":2,"weight":500}"#).line
        let gone = try run("put", "a", "gone", #"{"v":1}"#).line
        try run("put", "a", "alone", #"{"v":1}"#)
        try run("sync", "a", "b")
        try run("put", "a", "milk", #"{"name":"Milk","count":3,"shop":"corner"}"#, "--rev", milk)
        let named = #"{"name":"Oat milk","count":5,"note":"?","shop":"corner"}"#
        try run("put", "b", "milk", named, "--rev", milk)
        try write("a picture of oats", to: "oats.txt")
        try run("attach", "b", "milk", "oats.txt")
        try run("put", "a", "bread", #"{"price":3,"weight":500}"#, "--rev", bread)
        try run("put", "b", "bread", #"{"price":2,"weight":750}"#, "--rev", bread)
        try run("delete", "a", "gone", "--rev", gone)
        try run("put", "b", "gone", #"{"v":2}"#, "--rev", gone)
        try run("sync", "a", "b")
        return ["milk": milk, "bread": bread, "gone": gone]
    }

    /// Each document's winner and leaves, which are equal in two equal databases.
    func leaves(_ database: String) throws -> Set<String> {
        let lines = try run("changes", database, "--all-leaves", "--json").lines
        return Set(
            try lines.map { line in
                var row = try JSONValue(parsing: line)
                row["seq"] = nil
                return row.description
            })
    }
}
