import Settle
import SettleHTTP
import SettleReplication
import SettleServer
import SettleTesting
import Testing

/// Trust and client certificates over TLS.
@Suite(.timeLimit(.minutes(5))) struct TLSTests {
    private let folder: TemporaryFolder
    private let openSSL: OpenSSL

    init() throws {
        folder = try TemporaryFolder()
        openSSL = OpenSSL(folder: folder.path)
        try openSSL.makeCertificate("server")
        try openSSL.makeCertificate("other")
    }

    private func makeServer() throws -> LiveServer {
        let certificate = Certificate(
            chain: try openSSL.text("server.pem"), key: try openSSL.text("server-key.pem"))
        return try LiveServer { $0.certificate = certificate }
    }

    /// The status of the root, or how it failed.
    private func ask(
        _ url: HTTPURL, _ change: (inout TLSOptions) throws -> Void
    ) async throws -> Result<Int, TransportError> {
        var options = TransportOptions()
        options.proxy = .direct
        try change(&options.tls)
        do {
            return .success(try await DefaultTransport(options).send(HTTPRequest("GET", url)).status)
        } catch let error as TransportError {
            return .failure(error)
        }
    }

    @Test func `a custom root is trusted, and no other`() async throws {
        let live = try makeServer()
        let url = try live.url()
        #expect(try await ask(url) { $0.roots = folder("server.pem") }.get() == 200)
        for change in [{ _ in }, { $0.roots = folder("other.pem") }] as [(inout TLSOptions) -> Void] {
            let result = try await ask(url, change)
            let error = #expect(throws: TransportError.self) { try result.get() }
            #expect(error?.code == .certificateRejected && error?.isTransient == false)
            #expect(error?.message.contains(url.authority) == true)
        }
        let missing = try await ask(url) { $0.roots = folder("missing.pem") }
        let error = #expect(throws: TransportError.self) { try missing.get() }
        #expect(error?.code == .tlsFailed)
    }

    @Test func `an untrusted certificate is accepted only on request, and for its host only`() async throws {
        let live = try makeServer()
        #expect(try await ask(try live.url()) { $0.allowsSelfSigned = true }.get() == 200)
        // A name of this machine that is not in the certificate.
        let stranger = try HTTPURL("https://other.localhost:\(live.server.port)/")
        let result = try await ask(stranger) { $0.allowsSelfSigned = true }
        let error = #expect(throws: TransportError.self) { try result.get() }
        #expect(error?.code == .certificateRejected)
    }

    @Test func `a pinned key must be the server's`() async throws {
        let live = try makeServer()
        let url = try live.url()
        let right = try TLSOptions.pin(ofCertificate: openSSL.text("server.pem"))
        let wrong = try TLSOptions.pin(ofCertificate: openSSL.text("other.pem"))
        #expect(right.hasPrefix("sha256//") && right != wrong)
        for (pins, isTaken) in [([right], true), ([wrong, right], true), ([wrong], false)] {
            for trusts in [true, false] {
                let result = try await ask(url) { options in
                    options.pins = pins
                    if trusts { options.roots = folder("server.pem") } else { options.allowsSelfSigned = true }
                }
                if isTaken {
                    #expect(try result.get() == 200)
                } else {
                    let error = #expect(throws: TransportError.self) { try result.get() }
                    #expect(error?.code == .certificateRejected && error?.message.contains("pinned") == true)
                }
            }
        }
        let error = #expect(throws: TransportError.self) { try TLSOptions.pin(ofCertificate: "none") }
        #expect(error?.code == .tlsFailed)
    }

    @Test func `a client certificate is sent, and a missing one is reported`() async throws {
        try openSSL.makeCertificate("client")
        try openSSL.run(
            "ec", "-in", "client-key.pem", "-aes256", "-passout", "pass:hunter2", "-out", "client-locked.pem")
        let server = try TLSProcess(folder: folder.path)
        let url = try HTTPURL("https://localhost:\(server.port)/")
        let certificate = folder("client.pem")
        for (key, password) in [("client-key.pem", nil), ("client-locked.pem", "hunter2")] {
            let result = try await ask(url) { options in
                options.roots = folder("server.pem")
                options.clientCertificate = .init(certificate: certificate, key: folder(key), password: password)
            }
            #expect(try result.get() == 200)
        }
        for (name, key, password) in [
            ("", "", nil), ("other.pem", "other-key.pem", nil), ("client.pem", "client-locked.pem", "wrong-hunter2"),
            ("client.pem", "client-locked.pem", nil), ("missing.pem", "missing.pem", nil),
        ] {
            let result = try await ask(url) { options in
                options.roots = folder("server.pem")
                guard !name.isEmpty else { return }
                options.clientCertificate = .init(certificate: folder(name), key: folder(key), password: password)
            }
            let error = #expect(throws: TransportError.self) { try result.get() }
            #expect(error?.code == .tlsFailed, "\(name) \(key): \(error as Any)")
            #expect(error?.description.contains("hunter2") == false)
        }
    }

    @Test func `a server that does not speak TLS is reported`() async throws {
        let server = try RawServer { peer in
            _ = try peer.readSome()
            try peer.write("HTTP/1.1 400 Bad\r\n\r\n")
        }
        let result = try await ask(try HTTPURL("https://localhost:\(server.port)")) { _ in }
        let error = #expect(throws: TransportError.self) { try result.get() }
        #expect(error?.code == .tlsFailed)
    }

    @Test func `a dump does not contain the password of a key`() {
        var options = TLSOptions()
        options.clientCertificate = .init(certificate: "a.pem", key: "b.pem", password: "hunter2")
        var text = "\(options)"
        dump(options, to: &text)
        #expect(text.contains("b.pem") && !text.contains("hunter2"))
    }
}
