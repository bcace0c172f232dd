internal import Foundation

/// How the text of a dump is read.
package struct DumpOptions: Sendable {
    /// The encoding; `nil` to find it.
    package var encoding: TextEncoding?
    /// Whether the cells of a table stay texts.
    package var takesTexts = false
    /// How other products' JSON becomes documents.
    package var translation: JSONTranslation
    /// The length of the longest text of a document, in bytes.
    package var longest: Int

    package init(
        encoding: TextEncoding? = nil, takesTexts: Bool = false, translation: JSONTranslation = JSONTranslation(),
        longest: Int = RecordReader.longest
    ) {
        (self.encoding, self.takesTexts, self.translation) = (encoding, takesTexts, translation)
        self.longest = longest
    }

    /// A reader of a text that can be opened several times.
    package func source(
        _ kind: ForeignDatabase.Kind?, named name: String, _ open: @escaping () throws -> () throws -> [UInt8]
    ) throws -> any RecordSource {
        let encoding = encoding
        let text = {
            let input = TextInput(encoding: encoding, try open())
            return { try input.read() }
        }
        guard Self.isTable(kind, named: name) else {
            return RecordReader(kind, translation: translation, longest: longest, try text())
        }
        let isTabbed = kind == nil && !Self.expandedName(name).hasSuffix(".csv")
        return CSVReader(takesTypes: !takesTexts, separator: isTabbed ? UInt8(ascii: "\t") : nil, text)
    }

    /// Whether an input is a table, and so read twice: by its kind, or otherwise by its name.
    package static func isTable(_ kind: ForeignDatabase.Kind?, named name: String) -> Bool {
        kind == .csv || kind == nil && [".csv", ".tsv", ".tab"].contains { expandedName(name).hasSuffix($0) }
    }

    /// The name in small letters, without the ending of gzip.
    private static func expandedName(_ name: String) -> String {
        let lower = name.lowercased()
        return lower.hasSuffix(".gz") ? String(lower.dropLast(3)) : lower
    }
}

// MARK: - DumpParts

/// The files of a dump, one after the other.
final class DumpParts: RecordSource {
    private let urls: [URL]
    private let kind: ForeignDatabase.Kind?
    private let options: DumpOptions
    private var index = 0
    private var source: (any RecordSource)?
    private var file: FileBytes?
    private var before: (bytes: Int64, notes: DumpNotes) = (0, DumpNotes())
    private let total: Int64
    private(set) var form = DumpKind.documents

    init(_ urls: [URL], _ kind: ForeignDatabase.Kind?, _ options: DumpOptions) {
        (self.urls, self.kind, self.options) = (urls, kind, options)
        total = urls.reduce(0) { sum, url in
            let size = try? FileManager.default.attributesOfItem(atPath: url.path)[.size] as? NSNumber
            return sum + (size?.int64Value ?? 0)
        }
    }

    /// The file that is read.
    var current: URL? { index < urls.count ? urls[index] : nil }
    /// The bytes that were read, and their number.
    var position: (done: Int64, total: Int64) { (before.bytes + (file?.count ?? 0), total) }

    var notes: DumpNotes { before.notes + (source?.notes ?? DumpNotes()) }

    func begin() throws {
        if source == nil { try openNext() }
    }

    private func openNext() throws {
        guard let url = current else { return }
        let next = try options.source(kind, named: url.lastPathComponent) { [weak self] in
            let bytes = try FileBytes(path: url.path)
            self?.file = bytes
            return { try bytes.next() }
        }
        try next.begin()
        if index == 0 { form = next.form }
        guard index == 0 || next.form.kind == form.kind else {
            throw ForeignFileError(
                .unknown, "\(url.lastPathComponent) is \(next.form.title), and the file before it \(form.title)")
        }
        source = next
    }

    func read() throws -> RecordReader.Record? {
        try begin()
        while let source {
            if var record = try source.read() {
                if urls.count > 1 { record.file = current?.lastPathComponent }
                return record
            }
            guard index + 1 < urls.count else { return nil }
            before = (before.bytes + (file?.count ?? 0), notes)
            self.source = nil
            index += 1
            try openNext()
        }
        return nil
    }
}
