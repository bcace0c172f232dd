import CCrypto
import Foundation
import SettleTesting
import Testing

@testable import SettleCrypto

/// Public keys of certificates, which pins are made of: the same bytes as libcrypto finds.
struct CertificateKeyTests {
    /// A certificate in DER and its key, by libcrypto.
    private struct Sample {
        var certificate: [UInt8]
        var key: [UInt8]
    }

    /// All certificates of a PEM text.
    private func samples(_ pem: [UInt8]) -> [Sample] {
        guard let source = BIO_new_mem_buf(pem, Int32(clamping: pem.count)) else { return [] }
        defer { BIO_free(source) }
        var samples: [Sample] = []
        while let certificate = PEM_read_bio_X509(source, nil, nil, nil) {
            samples.append(
                Sample(
                    certificate: written { i2d_X509(certificate, $0) },
                    key: written { i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), $0) }))
            X509_free(certificate)
        }
        return samples
    }

    /// What libcrypto writes, after it was asked for the length.
    private func written(_ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> [UInt8] {
        let count = Int(max(0, write(nil)))
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, length in
            var end = buffer.baseAddress
            length = Int(write(&end))
        }
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/etc/ssl/certs/ca-certificates.crt")))
    func `the keys of this machine's root certificates are found`() throws {
        let roots = try Data(contentsOf: URL(filePath: "/etc/ssl/certs/ca-certificates.crt"))
        let samples = samples(Array(roots))
        #expect(samples.count > 50)
        for sample in samples { #expect(CertificateKey.find(in: sample.certificate) == sample.key) }
    }

    @Test(arguments: [
        ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"], ["ec", "-pkeyopt", "ec_paramgen_curve:P-384"], ["ed25519"],
        ["rsa:2048"], ["rsa:4096"],
    ])
    func `the key of a new certificate is found`(kind: [String]) throws {
        let folder = try TemporaryFolder()
        let openSSL = OpenSSL(folder: folder.path)
        let options = kind.dropFirst() + ["", ""]
        let (option, value) = kind.count > 1 ? (options[1], options[2]) : ("-days", "2")
        try openSSL.run(
            "req", "-x509", "-newkey", kind[0], option, value, "-nodes", "-subj", "/CN=leaf", "-keyout", "key.pem",
            "-out",
            "leaf.pem")
        let samples = samples(Array(try openSSL.text("leaf.pem").utf8))
        let sample = try #require(samples.first)
        #expect(!sample.key.isEmpty && CertificateKey.find(in: sample.certificate) == sample.key)
    }

    @Test func `a damaged certificate gives a key or none, and never reads past its end`() throws {
        let folder = try TemporaryFolder()
        let openSSL = OpenSSL(folder: folder.path)
        try openSSL.makeCertificate("leaf")
        let samples = samples(Array(try openSSL.text("leaf.pem").utf8))
        let sample = try #require(samples.first)
        for count in 0..<sample.certificate.count {
            #expect(CertificateKey.find(in: Array(sample.certificate.prefix(count))) == nil)
        }
        for _ in 0..<20_000 {
            var bytes = sample.certificate
            for _ in 0...2 { bytes[Int.random(in: 0..<bytes.count)] = UInt8.random(in: 0...255) }
            if let key = CertificateKey.find(in: bytes) { #expect(key.count < bytes.count) }
        }
        for bytes in [
            [], [0x30], [0x30, 0x80, 0, 0], [0x30, 0x84, 0xff, 0xff, 0xff, 0xff], [0x30, 0x81, 0x02, 0, 0],
        ] as [[UInt8]] {
            #expect(CertificateKey.find(in: bytes) == nil)
        }
    }
}
