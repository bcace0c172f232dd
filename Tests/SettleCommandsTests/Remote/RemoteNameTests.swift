import Foundation
import Settle
import SettleServer
import SettleTesting
import Testing

/// Ids and names that proxies remove from paths, in the writes of the tool to a server: it sends none of them in a path.
@Suite(.timeLimit(.minutes(5))) struct RemoteNameTests {
    @Test func `documents with such ids are written and deleted without their paths`() throws {
        let folder = try TemporaryFolder()
        let log = try ServerLog(format: .json, requests: .file(folder("requests")))
        let remote = try RemoteRoom { $0.log = log }
        #expect(try remote.run("create", remote.url()).status == 0)
        #expect(try remote.run("put", remote.url(), "kept", "{}").status == 0)
        for id in [".", "..", "_design/.", "_design/..", "...", "a/..", "%2e"] {
            let made = try remote.run("put", remote.url(), id, #"{"n":1}"#)
            #expect(made.status == 0, "\(id): \(made.errors)")
            #expect(try remote.run("put", remote.url(), id, #"{"n":2}"#, "--rev", made.line).status == 0)
            #expect(try remote.run("get", remote.url(), id).output.contains(#""n":2"#) == true, "\(id)")
            let attached = try remote.run("attach", remote.url(), id, "-", "--name", "x", input: "x")
            #expect((attached.status == 0) == ["...", "a/..", "%2e"].contains(id), "\(id): \(attached.errors)")
            let gone = try remote.run("delete", remote.url(), id, "--force")
            #expect(gone.status == 0, "\(id): \(gone.errors)")
        }
        for name in [".", ".."] {
            #expect(try remote.run("attach", remote.url(), "kept", "-", "--name", name, input: "{}").status != 0)
        }
        #expect(try remote.run("docs", remote.url()).output.contains("kept"))
        remote.server.stop()
        log.close()
        let lines = try String(contentsOfFile: folder("requests"), encoding: .utf8).split(separator: "\n")
        #expect(lines.count > 10)
        for line in lines {
            let record = try JSONValue(parsing: String(line))
            guard !["GET", "HEAD"].contains(record["method"]?.string ?? "") else { continue }
            let path = record["path"]?.string ?? record["target"]?.string ?? ""
            #expect(path.hasPrefix("/"), "\(line)")
            let names = path.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
            #expect(!names.contains { ["", ".", "..", "%2E", "%2E%2E"].contains($0.uppercased()) }, "\(line)")
        }
    }
}
