import Settle
import SettleTesting
import Testing

@testable import SettleCommands

/// The moments in a folder of backups.
@Suite struct BackupFolderTests {
    private let place: TemporaryFolder
    private let folder: BackupFolder

    init() throws {
        place = try TemporaryFolder()
        folder = try BackupFolder(creating: place("backup"))
        for name in [
            "20260105T070000.000Z", "20261126T180000.000Z", "20261126T180000.000aZ", "20261127T060000.500Z",
        ] {
            _ = try folder.begin(name)
            try folder.finish(BackupMoment(name, source: "data"))
        }
    }

    @Test(arguments: [
        ("2026", "20261127T060000.500Z"), ("2026-11", "20261127T060000.500Z"),
        ("2026-11-26", "20261126T180000.000aZ"), ("2026-11-26T18:00:00.000Z", "20261126T180000.000aZ"),
        ("20261126T180000.000Z", "20261126T180000.000Z"), ("20261126T180000.000aZ", "20261126T180000.000aZ"),
        ("2026-11-26T17", "20260105T070000.000Z"), ("20261126T17", "20260105T070000.000Z"),
        ("2026-11-26T17:59:59Z", "20260105T070000.000Z"), ("2026-01-05", "20260105T070000.000Z"),
        ("2026-11-27T06:00:00.499", "20261126T180000.000aZ"), ("9999", "20261127T060000.500Z"),
    ])
    func `a time is that of the newest moment until then`(text: String, name: String) throws {
        #expect(try folder.moment(at: text).name == name)
        #expect(try folder.moment(at: nil).name == "20261127T060000.500Z")
    }

    @Test(arguments: [
        "yesterday", "", "Z", "2026-1-5", "2026-11-", "2026-11-26T", "2026-13", "2026-00", "2026-11-32",
        "2026-11-26T24", "2026-11-26T18:60", "2026-11-26 18:00", "2026-11-26T1800", "20261126T18:00",
        "2026-11-26T18:00+01:00", "26",
        "2026-11-26T18:00:00.5", "2026-11-26T18:00:00.0000", "20261126T18000", "2026Z", "a2026",
        "\u{662}\u{660}\u{662}\u{666}",
    ])
    func `other text is refused, and the message says what is accepted`(text: String) {
        #expect {
            try folder.moment(at: text)
        } throws: { error in
            let failure = CommandError(error)
            return failure.status == .usage && failure.message.contains("2026-11-26T18:00")
                && failure.message.contains("a moment's name")
        }
    }

    @Test func `a time before all moments has none`() {
        #expect {
            try folder.moment(at: "2026-01-04")
        } throws: { error in
            CommandError(error).status == .notFound
        }
    }
}
