internal import Settle

/// `settle sync`: brings two databases on this machine to the same revisions.
enum SyncVerb: Verb {
    static let guide = Guide(
        "sync", "exchange revisions between two databases on this machine",
        discussion: """
            Each gets the leaves it lacks from the other, with their histories and attachments, and the bases that merges \
            of its conflicts need. Nothing is overwritten: what was edited on both sides is in conflict then, on both sides \
            alike, see `settle conflicts`. Local documents stay. It may be interrupted and begun again. A second database \
            that is not there is made.
            """,
        operands: [.folder, Operand("OTHER", "the folder of the other database")],
        options: [Option("--no-create", "fail if the other database is not there")],
        examples: [
            Guide.Example("settle sync groceries /media/stick/groceries", "brings both up to date"),
            Guide.Example("settle sync groceries backup --quiet", "the same, without a word unless something fails"),
        ],
        json: """
            {"ok":bool,"sent":{"documents":N,"revisions":N,"attachments":N,"bytes":N,"refused":N},"received":{the same},\
            "seconds":N}, documents being those compared; for each revision refused on standard error \
            {"id":…,"rev":…,"error":code,"message":text}
            """)

    static func run(_ invocation: Invocation) throws -> ExitStatus {
        let other = try invocation.path("OTHER")
        let console = invocation.console
        Interruption.watch()
        return try invocation.withDatabase { database in
            let creates = !invocation.arguments.flag("--no-create")
            let second = try invocation.waiting {
                creates ? try Database.openOrCreate(other) : try Database.open(other)
            }
            defer { second.close() }
            guard database !== second else { throw CommandError.usage("both are the same database", verb: guide.name) }
            let bar = ProgressBar(console)
            defer { bar.finish() }
            func transfer(_ source: Database, _ target: Database) -> OneWayTransfer {
                OneWayTransfer(from: source, to: target) { id, revision, error in
                    bar.finish()
                    complain(id, revision, error, console)
                }
            }
            let sending = transfer(database, second)
            let receiving = transfer(second, database)
            try sending.run { bar.update("Sending", fraction: $0, sending.counts.summary) }
            try receiving.run { bar.update("Receiving", fraction: $0, receiving.counts.summary) }
            try sending.bringBases()
            try receiving.bringBases()
            let (sent, received) = (sending.counts, receiving.counts)
            bar.finish()
            let isWhole = sent.refused + received.refused == 0
            if console.isJSON {
                let seconds = JSONNumber(Quantity.seconds(bar.elapsed)).map(JSON.number) ?? .null
                let line: JSON = [
                    "ok": .bool(isWhole), "sent": sent.json, "received": received.json, "seconds": seconds,
                ]
                try console.print(line.description)
            } else {
                try console.note(
                    """
                    Sent \(sent.summary); received \(received.summary); \(Quantity.of(received.documents, "document")) \
                    compared in \(Quantity.duration(bar.elapsed))
                    """)
            }
            return isWhole ? .success : .failure
        }
    }

    private static func complain(_ id: DocumentID, _ revision: RevisionID, _ error: DatabaseError, _ console: Console) {
        console.complain(
            "\(id) \(revision): \(error.message)",
            json: [
                "id": .string(id.string), "rev": .string(revision.description), "error": .string(error.code.name),
                "message": .string(error.message),
            ])
    }
}
