import Testing

private let folder = "docs/decisions/"
private let indexPath = folder + "README.md"

/// A decision record, as far as the rules need it.
struct DecisionRecord {
    let file: SourceFile
    /// The number its file name begins with: 7 of `0007-transactions-by-thread.md`.
    let number: Int

    init?(_ file: SourceFile) {
        guard file.path.hasPrefix(folder), let number = Int(file.baseName.prefix(4)) else { return nil }
        (self.file, self.number) = (file, number)
    }

    var fileName: Substring { file.path.dropFirst(folder.count) }

    /// The text of the first line without its number.
    var title: Substring? {
        guard let line = file.lines.first, line.hasPrefix("# \(number). ") else { return nil }
        return line.dropFirst("# \(number). ".count)
    }

    /// The text of the line `Status: …` without its full stop.
    var status: Substring? {
        guard let line = file.lines.first(where: { $0.hasPrefix("Status: ") })?.dropFirst(8) else { return nil }
        return line.hasSuffix(".") ? line.dropLast() : line
    }

    /// Whether the record is in force, in whole or in part.
    var isAccepted: Bool { status?.hasPrefix("accepted") == true }
}

/// Reports a record without title or status, or one that the index does not list with both.
func decisionComplaints(_ record: DecisionRecord, index: SourceFile) -> [Complaint] {
    guard let title = record.title else {
        return [record.file.complaint(1, "begin with the line `# \(record.number). Title`")]
    }
    guard let status = record.status, record.isAccepted || status.hasPrefix("superseded by [") else {
        return [record.file.complaint(1, "write a line `Status: accepted.` or `Status: superseded by [N](…).`")]
    }
    let row = "| [\(record.number)](\(record.fileName)) | \(title) | \(status) |"
    return index.lines.contains(row) ? [] : [index.complaint(1, "list the record with the row `\(row)`")]
}

struct DecisionTests {
    @Test func `every decision has a status, and the index lists it`() throws {
        let index = try #require(Repository.shared.file(indexPath), "write \(indexPath)")
        let records = Repository.shared.files.compactMap(DecisionRecord.init)
        #expect(records.count > 50)
        #expect(Set(records.map(\.number)).count == records.count, "two records have one number")
        expectNone(records.flatMap { decisionComplaints($0, index: index) })
    }

    @Test(arguments: [
        ("# 7. Title\n\nStatus: accepted.\n", "| [7](0007-a.md) | Title | accepted |", 0),
        ("# 7. Title\n\nStatus: superseded by [8](b.md).\n", "| [7](0007-a.md) | Title | superseded by [8](b.md) |", 0),
        ("# 7. Title\n\nStatus: accepted.\n", "| [7](0007-a.md) | Title | superseded by [8](b.md) |", 1),
        ("# 7. Title\n\nStatus: accepted.\n", "| [7](0007-a.md) | Another | accepted |", 1),
        ("# 7. Title\n\nStatus: proposed.\n", "| [7](0007-a.md) | Title | proposed |", 1),
        ("# 7. Title\n", "", 1), ("# 8. Title\n\nStatus: accepted.\n", "", 1), ("", "", 1),
    ])
    func `a record without status or row is found`(text: String, row: String, count: Int) throws {
        let record = try #require(DecisionRecord(SourceFile(path: folder + "0007-a.md", text: text)))
        let index = SourceFile(path: indexPath, text: "# Decisions\n\(row)\n")
        #expect(decisionComplaints(record, index: index).count == count)
    }
}
