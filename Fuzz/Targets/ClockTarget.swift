import SettleCore

/// A document with untrusted clocks, stamped and merged with its parent.
enum ClockTarget {
    static func run(_ bytes: [UInt8]) throws {
        guard let members = (try? JSONValue(utf8: bytes))?.object,
            let now = AttributeClock(milliseconds: 9, device: "z")
        else {
            return
        }
        let read = ClockedDocument(members)
        let written = read.document
        try require(ClockedDocument(written).document == written, "a document that is written reads to itself")
        try require(written.names.last == ClockedDocument.memberName, "clocks stand last")

        var edited = read.members
        for name in edited.names.prefix(3) { edited[name] = ["x": .string(name)] }
        edited["new"] = 1
        var stamped = read
        stamped.stamp(edited, at: now)
        try require(stamped.members == edited, "what is stamped is what was given")
        let later = stamped.document
        try require(ClockedDocument(later).document == later, "a stamped document reads to itself")

        // Whatever its clocks are, a document does not win against an edit based on it.
        for versions in [[written, later], [later, written]] {
            let merged = LatestAttributeMerge.merge(versions, base: read.members)?.merged
            try require(merged.map { $0["new"] == 1 } == true, "an edit wins against what it was made on")
            for name in edited.names {
                try require(merged?[name] == edited[name], "an edit of a member wins against what it was made on")
            }
        }
        let again = LatestAttributeMerge.merge([later, later], base: nil)?.merged
        try require(again == later, "a version merges with itself to itself")
        _ = ClockedDocument(members, isDeleted: true).tombstone(keeping: members, at: now)
    }
}
