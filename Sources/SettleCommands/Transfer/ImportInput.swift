internal import Foundation
internal import Settle
import SettleImport
internal import SettlePlatform

/// The input of an import: a file or folder by its path, or a stream that is read once.
struct ImportInput {
    /// What it holds.
    let source: ForeignDatabase
    /// The bytes that were read, and their number if it is known.
    let position: () -> (done: Int64, total: Int64?)

    /// The options that say what the input is.
    static let options = [
        Option(
            "--from", value: "KIND",
            "what the input is, if its content does not tell: \(ForeignDatabase.Kind.allCases.map(\.rawValue).joined(separator: ", "))"
        ),
        Option("--csv", "the input is CSV, as a FILE that ends in .csv, .tsv or .tab is without this option"),
        Option("--text", "of CSV: store every cell as a text"),
        Option(
            "--encoding", value: "NAME",
            "the encoding of a text that is not UTF-8: \(TextEncoding.allCases.dropFirst().map(\.rawValue).joined(separator: ", "))"
        ),
        Option(
            "--keep-id", value: "NAME",
            "of MongoDB: keep an _id that is no text in this member, too, beside the id that is made of it"),
        Option(
            "--type-member", value: "NAME",
            "of Firestore and Realm: store the name of the collection or class in this member (Realm's default: type)"),
        Option(
            "--binary", value: "HOW",
            "of MongoDB: text (default) keeps binary values in base64, attachments makes those of 1 KiB and more attachments"
        ),
    ]

    /// How binary values are stored.
    private enum BinaryForm: String, CaseIterable { case text, attachments }

    /// The options of kinds of input that have no use for them otherwise.
    private static let kinds: [(option: String, kinds: [ForeignDatabase.Kind], name: String)] = [
        ("--text", [.csv], "CSV"), ("--keep-id", [.mongo], "MongoDB's JSON"), ("--binary", [.mongo], "MongoDB's JSON"),
        ("--type-member", [.firestore, .realm], "Firestore's and Realm's JSON"),
    ]

    /// Opens the input, and finds out what it is.
    ///
    /// - Throws: ``CommandError`` for what can't be imported.
    init(_ path: String, _ arguments: Arguments) throws {
        let kind = try Self.kind(arguments)
        let encoding = try Self.encoding(arguments)
        let options = DumpOptions(
            encoding: encoding, takesTexts: arguments.flag("--text"), translation: try Self.translation(arguments))
        let isPlace = path != "-" && FileStatus(path: path).map { $0.isRegular || $0.isFolder } == true
        if isPlace {
            source = try ForeignDatabase(at: URL(fileURLWithPath: path), kind: kind, options)
            let place = source.position
            position = { place.map { $0() }.map { ($0.done, $0.total) } ?? (0, nil) }
        } else {
            let input = try ByteInput.open(path)
            let spool = DumpOptions.isTable(kind, named: path) ? try SpooledInput(input) : nil
            source = try ForeignDatabase(
                stream: options.source(kind, named: path) {
                    if let spool { return try spool.open() }
                    return { try input.read() }
                })
            position = { (input.count, input.size) }
        }
        for row in Self.kinds where arguments.isGiven(row.option) && !row.kinds.contains(source.kind) {
            throw CommandError.usage("\(row.option) is for \(row.name)", verb: ImportCommand.spec.name)
        }
    }

    private static func translation(_ arguments: Arguments) throws -> JSONTranslation {
        for option in ["--keep-id", "--type-member"] {
            guard let name = arguments.text(option), name.isEmpty || name.hasPrefix("_") else { continue }
            throw CommandError.usage("\(option) takes a name that does not begin with _", verb: ImportCommand.spec.name)
        }
        return JSONTranslation(
            keptID: arguments.text("--keep-id"), typeMember: arguments.text("--type-member"),
            attachesBinaries: try arguments.choice("--binary", BinaryForm.text) == .attachments)
    }

    private static func kind(_ arguments: Arguments) throws -> ForeignDatabase.Kind? {
        try arguments.refuse("--csv", with: "--from")
        if arguments.flag("--csv") { return .csv }
        guard let name = arguments.text("--from"), name != "auto" else { return nil }
        guard let kind = ForeignDatabase.Kind(rawValue: name) else {
            let names = ForeignDatabase.Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw CommandError.usage("--from must be one of \(names)")
        }
        return kind
    }

    private static func encoding(_ arguments: Arguments) throws -> TextEncoding? {
        guard let name = arguments.text("--encoding") else { return nil }
        guard let encoding = TextEncoding(rawValue: name.lowercased()) else {
            let names = TextEncoding.allCases.map(\.rawValue).joined(separator: ", ")
            throw CommandError.usage("--encoding must be one of \(names)")
        }
        return encoding
    }
}

// MARK: - SpooledInput

/// A copy of a stream, which can be read several times.
private final class SpooledInput {
    private let path = FileManager.default.temporaryDirectory.appending(path: "settle-\(UUID().uuidString)").path

    init(_ input: ByteInput) throws {
        let output = try ByteOutput(path: path)
        while case let piece = try input.read(), !piece.isEmpty { try output.write(piece) }
        try output.finish()
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func open() throws -> () throws -> [UInt8] {
        let bytes = try FileBytes(path: path)
        return { try bytes.next() }
    }
}
