import Foundation
import Settle
import SettleTesting
import Testing

@testable import SettleServer

/// The server over TLS, with a certificate created here.
@Suite struct LiveTLSTests {
    private func makeCertificate(_ folder: TemporaryFolder) throws -> Certificate {
        let openSSL = OpenSSL(folder: folder.path)
        try openSSL.run(
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
            "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", "key.pem", "-out",
            "cert.pem")
        return Certificate(chain: try openSSL.text("cert.pem"), key: try openSSL.text("key.pem"))
    }

    private func curl(_ arguments: String...) throws -> (status: Int32, output: String) {
        let curl = Process()
        curl.executableURL = URL(filePath: "/usr/bin/env")
        curl.arguments = ["curl", "-sS", "--max-time", "300"] + arguments
        let output = Pipe()
        curl.standardOutput = output
        curl.standardError = FileHandle.nullDevice
        try curl.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        let status = curl.waitForEnd()
        return (status, String(decoding: data, as: UTF8.self))
    }

    @Test func `requests pass through TLS, and only through it`() throws {
        let folder = try TemporaryFolder()
        let certificate = try makeCertificate(folder)
        let live = try LiveServer { $0.certificate = certificate }
        let (trust, url) = (folder("cert.pem"), "https://localhost:\(live.port)")
        let root = try curl("--cacert", trust, "-u", "admin:admin", url + "/")
        #expect(root.status == 0 && root.output.contains("Welcome"))
        let created = try curl("--cacert", trust, "-u", "admin:admin", "-i", "-X", "PUT", url + "/db")
        #expect(created.output.contains("Location: https://localhost:\(live.port)/db"))
        // A body larger than one piece, in both directions.
        try String(repeating: "x", count: 3_000_000).write(toFile: folder("big"), atomically: true, encoding: .utf8)
        let put = try curl(
            "--cacert", trust, "-u", "admin:admin", "-H", "Content-Type: image/x", "-T", folder("big"),
            url + "/db/a/big")
        #expect(put.output.contains("\"ok\":true"))
        #expect(try curl("--cacert", trust, "-u", "admin:admin", url + "/db/a/big").output.utf8.count == 3_000_000)
        let login = try curl("--cacert", trust, "-i", "-d", "name=admin&password=admin", url + "/_session")
        #expect(login.output.contains("; Secure; HttpOnly"))

        #expect(try curl(url + "/").status != 0, "a certificate nobody vouches for is taken")
        #expect(try curl("--cacert", trust, "--tls-max", "1.1", url + "/").status != 0)
        #expect(try curl("http://localhost:\(live.port)/").status != 0)
    }

    @Test func `an invalid certificate or mismatched key is reported at the start`() throws {
        let (one, two) = (try TemporaryFolder(), try TemporaryFolder())
        let certificate = try makeCertificate(one)
        let other = try makeCertificate(two)
        for wrong in [
            Certificate(chain: "nonsense", key: "nonsense"), Certificate(chain: certificate.chain, key: other.key),
        ] {
            #expect(throws: ListenerError.self) { _ = try LiveServer { $0.certificate = wrong } }
        }
    }
}
