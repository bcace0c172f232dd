import Foundation
import Settle

/// A process that uses a database together with others.
enum Sharer {
    /// Counts in one document and adds documents of its own.
    ///
    /// - Parameters:
    ///   - folder: The database.
    ///   - name: The beginning of the ids of its documents.
    ///   - count: How many it adds.
    ///   - isShared: Whether it shares the database, or has it alone.
    /// - Throws: What the database throws.
    static func run(_ folder: String, name: String, count: Int, isShared: Bool) throws {
        var options = DatabaseOptions()
        options.sharing = isShared ? ProcessSharing() : nil
        // Tests run on busy machines.
        options.sharing?.patience = .seconds(300)
        let database = try Database.openOrCreate(folder, options: options)
        for number in 0..<count {
            try database.updateOrCreate("counter") { $0["n"] = JSONValue(($0["n"]?.int ?? 0) + 1) }
            let id = DocumentID(stringLiteral: "\(name)-\(number)")
            try database.save(Document(id: id, body: ["by": .string(name), "number": JSONValue(number)]))
        }
        print(try database.find(DocumentQuery<JSONValue>(MangoSelector(["by": .string(name)]))).rows.count)
    }
}
