import Settle
import SettleDatabase
import SettleMobile
import Testing

@testable import SettleReplication

/// What is proposed to a server that keeps one branch, and what follows from its answers.
@Suite struct MobileProposalTests {
    private typealias Leaf = (revisions: [String], isDeleted: Bool)

    private func proposal(_ leaves: Leaf...) throws -> MobileProposal {
        MobileProposal(
            try leaves.enumerated().map { index, leaf in
                let revisions = try leaf.revisions.map { try #require(RevisionID($0)) }
                let history = try #require(RevisionHistory(revisions))
                let body = leaf.isDeleted ? DocumentBody.empty : try DocumentBody(["from": .string(leaf.revisions[0])])
                return (index, PeerRevision(id: "doc", history: history, isDeleted: leaf.isDeleted, body: body))
            })
    }

    private func answer(_ json: JSONValue?) -> MobileProposal.Answer { MobileProposal.Answer(json) }

    @Test func `the winner is proposed, and sent or not as the server says`() throws {
        let proposal = try proposal(
            (["2-aa", "1-cc"], false), (["2-bb", "1-cc"], false), (["3-dd", "2-ee", "1-cc"], true))
        #expect(proposal.index == 1 && proposal.row == ["doc", "2-bb", "1-cc"])
        // Rows behind the last answer are wanted.
        for json in [nil, 0, ["status": 0]] as [JSONValue?] {
            guard case .send = proposal.step(after: answer(json)) else {
                Issue.record("not sent after \(String(describing: json))")
                continue
            }
        }
        guard case .nothing = proposal.step(after: answer(304)) else {
            Issue.record("sent though it is known")
            return
        }
        for json in [403, ["status": 500]] as [JSONValue] {
            guard case .refuse = proposal.step(after: answer(json)) else {
                Issue.record("not refused after \(json)")
                continue
            }
        }
    }

    @Test func `a descendant of the server's revision is proposed again with that, and once`() throws {
        let first = try proposal((["3-aa", "2-bb", "1-cc"], false))
        guard case .propose(let second) = first.step(after: answer(["status": 409, "rev": "1-cc"])) else {
            Issue.record("not proposed again")
            return
        }
        #expect(second.row == ["doc", "3-aa", "1-cc"] && second.index == 0)
        guard case .refuse = second.step(after: answer(["status": 409, "rev": "2-ff"])) else {
            Issue.record("proposed for a third time")
            return
        }
    }

    @Test func `a branch that was not settled stays, and is sent to a server that names nothing`() throws {
        let proposal = try proposal((["2-bb", "1-cc"], false))
        guard case .refuse = proposal.step(after: answer(["status": 409, "rev": "2-ff"])) else {
            Issue.record("a branch is not refused")
            return
        }
        guard case .send = proposal.step(after: answer(409)) else {
            Issue.record("an older server does not decide")
            return
        }
        // A database of Couchbase Lite with version vectors names what no tree has, and breaks off if it gets what it refuses.
        let version: JSONValue = ["status": 409, "rev": "18eb294ff580000@taTaqEMFTcmPzX4iVJ1NAw; 1-cc"]
        guard case .refuse = proposal.step(after: answer(version)) else {
            Issue.record("sent beside a version")
            return
        }
    }

    @Test
    func `what a conflict was settled to goes out as a child of the server's revision, under the same id everywhere`()
        throws
    {
        let settled = try proposal((["3-aa", "2-bb", "1-cc"], false), (["3-dd", "2-ff", "1-cc"], true))
        guard case .propose(let moved) = settled.step(after: answer(["status": 409, "rev": "2-ff"])) else {
            Issue.record("not proposed as a child")
            return
        }
        #expect(moved.revision.history.revisions.dropFirst().map(\.description) == ["2-ff", "1-cc"])
        #expect(moved.revision.revision.generation == 3 && moved.revision.body == settled.revision.body)
        // A copy that has pulled it, and ended that branch, makes no other revision of it.
        let path = moved.revision.history.revisions.map(\.description)
        let later = try proposal((["3-aa", "2-bb", "1-cc"], false), (["4-dd"] + path, true))
        guard case .propose(let same) = later.step(after: answer(["status": 409, "rev": .string(path[0])])) else {
            Issue.record("not found again")
            return
        }
        #expect(same.revision.history == moved.revision.history)
    }

    @Test func `contents count with their expanded lengths, up to the most that is sent`() throws {
        let digest = try #require(AttachmentDigest(md5: [UInt8](repeating: 7, count: 16)))
        func bytes(_ lengths: (content: Int64, stored: Int64)...) throws -> Int {
            let revision = try #require(RevisionID("1-aa"))
            let history = RevisionHistory(revision)
            let attachments = lengths.enumerated().map { index, lengths in
                PeerAttachment(
                    name: "a\(index)", contentType: "text/plain", revpos: 1, digest: digest, length: lengths.content,
                    encodedLength: lengths.stored, encoding: .gzip, content: .bytes([]))
            }
            return MobileProposal([(0, PeerRevision(id: "doc", history: history, attachments: attachments))])
                .contentBytes
        }
        #expect(try bytes((5_000_000, 6_000), (10, 30)) == 5_000_030)
        #expect(try bytes((.max, 1), (.max, 1)) == 2 * MobileLimits.largestContent)
    }

    @Test func `an edit goes out as a child of a deletion that was made apart, and a deletion does not`() throws {
        let edited = try proposal((["2-aa", "1-cc"], false), (["2-bb", "1-cc"], true))
        #expect(edited.row == ["doc", "2-aa", "1-cc"])
        guard case .propose(let moved) = edited.step(after: answer(["status": 409, "rev": "2-bb"])) else {
            Issue.record("not proposed as a child")
            return
        }
        #expect(moved.revision.history.revisions.dropFirst().map(\.description) == ["2-bb", "1-cc"])
        #expect(!moved.revision.isDeleted && moved.revision.body == edited.revision.body)
        #expect(try proposal((["1-aa"], false), (["2-bb", "1-cc"], true)).row == ["doc", "1-aa", "1-aa"])
        let deleted = try proposal((["2-bb", "1-cc"], true), (["2-aa", "1-cc"], true))
        guard case .nothing = deleted.step(after: answer(["status": 409, "rev": "2-aa"])) else {
            Issue.record("a deletion is sent onto another, or refused beside it")
            return
        }
    }
}
