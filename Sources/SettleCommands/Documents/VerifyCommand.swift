internal import Settle

/// `settle verify`: checks a database for damage.
enum VerifyCommand: Command {
    static let spec = CommandSpec(
        "verify", "check every revision, body, attachment and index",
        discussion: """
            Nothing is changed. In a folder of `settle backup`, all files are compared with their digests. Problems \
            are written to standard error, one per line, unless --json was given, and the exit code is 7.
            """,
        operands: [.folder],
        examples: [
            CommandSpec.Example("settle verify groceries", "shows whether the database is sound"),
            CommandSpec.Example(
                "settle verify groceries --quiet && cp -r groceries /backup/", "copies it only if it is"),
        ],
        json: """
            {"ok":bool,"documents":N,"revisions":N,"bodies":N,"attachments":N,"problems":[text …]}; of a folder of \
            backups {"ok":bool,"moments":[name …],"files":N,"problems":[text …]}
            """)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let path = try invocation.path()
        if BackupFolder.isBackup(path) { return try verify(BackupFolder(path), invocation.console) }
        return try invocation.withDatabase { database in
            let console = invocation.console
            let bar = ProgressBar(console)
            let report = try bar.watch("Verifying", database.verify(progress:))
            if console.isJSON {
                try console.print(json(report).description)
            } else {
                for problem in report.problems { console.complain(problem, json: .null) }
                if report.isSound {
                    let counts = [
                        Quantity.of(report.documents, "document"), Quantity.of(report.revisions, "revision"),
                        report.contents == 1 ? "1 body" : "\(Quantity.grouped(report.contents)) bodies",
                        Quantity.of(report.blobs, "attachment"),
                    ].joined(separator: ", ")
                    let verdict = console.styled("Sound", .green)
                    try console.printNote("\(verdict): \(counts) checked in \(Quantity.duration(bar.elapsed))")
                } else {
                    let verdict = console.styled("Damaged", .red)
                    try console.print("\(verdict): \(Quantity.of(report.problems.count, "problem"))")
                }
            }
            return report.isSound ? .success : .damaged
        }
    }

    /// Compares all files of all moments of a backup with their digests.
    private static func verify(_ backup: BackupFolder, _ console: Console) throws -> ExitStatus {
        let moments = try backup.moments()
        var (seen, problems, bytes) = (Set<String>(), [String](), Int64(0))
        for file in moments.flatMap(\.files) where seen.insert(file.path).inserted {
            bytes += file.bytes
            if let problem = backup.problem(of: file) { problems.append(problem) }
        }
        // With --json they are part of the result.
        if !console.isJSON { for problem in problems { console.complain(problem, json: .null) } }
        let verdict = problems.isEmpty ? console.styled("Sound", .green) : console.styled("Damaged", .red)
        try console.print(
            "\(verdict): \(Quantity.of(moments.count, "backup")) of \(Quantity.bytes(bytes)) checked",
            json: [
                "ok": .bool(problems.isEmpty), "moments": .array(moments.map { .string($0.name) }),
                "files": .number(JSONNumber(seen.count)), "problems": .array(problems.map(JSONValue.string)),
            ])
        return problems.isEmpty ? .success : .damaged
    }

    private static func json(_ report: VerificationReport) -> JSONValue {
        [
            "ok": .bool(report.isSound), "documents": .number(JSONNumber(report.documents)),
            "revisions": .number(JSONNumber(report.revisions)), "bodies": .number(JSONNumber(report.contents)),
            "attachments": .number(JSONNumber(report.blobs)),
            "problems": .array(report.problems.map(JSONValue.string)),
        ]
    }
}
