import Settle
import SettlePlatform
import Testing

@testable import SettleServer

@Suite struct PasswordHashTests {
    /// Keys from RFC 6070 and its equivalent for SHA-256, and a plain SHA-1 of password and salt.
    @Test(arguments: [
        "-pbkdf2-0c60c80f961f0e71f3a9b524af6012062fe037a6,salt,1",
        "-pbkdf2:sha-ea6c014dc72d6f8ccd1ed92ace1d41f0d8de8957,salt,2",
        "-pbkdf2:sha256-120fb6cffcf8b32c43e7225256c4f837a86548c92ccc35480805987cb70be17b,salt,1",
        "-hashed-c88e9c67041a74e0357befdff93f87dde0904214,salt",
    ])
    func `an administrator's line of CouchDB is understood`(line: String) throws {
        let hash = try #require(PasswordHash(line: line))
        #expect(try hash.verify(Array("password".utf8)))
        #expect(try !hash.verify(Array("passwort".utf8)))
        #expect(PasswordHash(line: hash.line) == hash)
    }

    @Test func `users' documents of all versions are understood`() throws {
        let old = try #require(
            PasswordHash([
                "password_scheme": "pbkdf2", "iterations": 1, "salt": "salt",
                "derived_key": "0c60c80f961f0e71f3a9b524af6012062fe037a6",
            ]))
        #expect(try old.verify(Array("password".utf8)))
        let simple = try #require(
            PasswordHash(["password_sha": "c88e9c67041a74e0357befdff93f87dde0904214", "salt": "salt"]))
        #expect(try simple.verify(Array("password".utf8)))
        let upper = try #require(
            PasswordHash(["password_sha": "C88E9C67041A74E0357BEFDFF93F87DDE0904214", "salt": "salt"]))
        #expect(try upper.verify(Array("password".utf8)))
        let key = HashFunction.sha256.derive(
            password: Array("c88e9c67041a74e0357befdff93f87dde0904214".utf8), salt: Array("salt".utf8), iterations: 3)
        let upgraded = try #require(
            PasswordHash([
                "password_scheme": "simple+pbkdf2", "pbkdf2_prf": "sha256", "iterations": 3, "salt": "salt",
                "derived_key": .string(Hexadecimal.encode(key)),
            ]))
        #expect(try upgraded.verify(Array("password".utf8)))
    }

    @Test func `a malformed hash verifies no password`() throws {
        #expect(PasswordHash(["name": "a"]) == nil)
        #expect(PasswordHash(["password_scheme": "plain", "derived_key": "x"]) == nil)
        #expect(PasswordHash(["password_scheme": "pbkdf2", "pbkdf2_prf": "md5", "derived_key": "x"]) == nil)
        let empty = try #require(PasswordHash(["password_sha": "", "salt": "salt"]))
        #expect(try !empty.verify([]))
        for iterations in [0, -1, 1_000_000_000] {
            let number = JSONValue.number(JSONNumber(iterations))
            let hash = try #require(
                PasswordHash(["password_scheme": "pbkdf2", "iterations": number, "salt": "s", "derived_key": "00"]))
            #expect(throws: HTTPError.self) { try hash.verify([1]) }
        }
        #expect(PasswordHash(line: "password") == nil)
        #expect(PasswordHash(line: "-pbkdf2:md5-00,salt,1") == nil)
    }

    @Test func `a new hash has CouchDB's form`() throws {
        let hash = PasswordHash(of: Array("pw".utf8), iterations: 5)
        #expect(try hash.verify(Array("pw".utf8)))
        #expect(hash.salt.utf8.count == 32 && hash.hash.utf8.count == 64)
        #expect(hash.members.map(\.0) == ["password_scheme", "pbkdf2_prf", "salt", "iterations", "derived_key"])
        #expect(ServerOptions().security.passwordIterations == 600_000)
    }

    @Test func `comparing accepts equal bytes only, and no empty ones`() {
        #expect(Secrets.areEqual([1, 2, 3], [1, 2, 3]))
        #expect(!Secrets.areEqual([1, 2, 3], [1, 2, 4]))
        #expect(!Secrets.areEqual([1, 2, 3], [1, 2]))
        #expect(!Secrets.areEqual([], []))
    }

    @Test func `a verification is cached, but not for another password or hash`() {
        let verified = VerifiedPasswords(capacity: 4, seconds: 60)
        let hash = PasswordHash(of: [1], iterations: 1)
        verified.insert([1], hash, "a")
        #expect(verified.contains([1], hash, "a"))
        #expect(!verified.contains([2], hash, "a"))
        #expect(!verified.contains([1], hash, "b"))
        #expect(!verified.contains([1], PasswordHash(of: [1], iterations: 1), "a"))
        for number in 0..<20 { verified.insert([UInt8(number)], hash, "c") }
        #expect(!verified.contains([1], hash, "a"))
        let short = VerifiedPasswords(capacity: 4, seconds: 0)
        short.insert([1], hash, "a")
        #expect(!short.contains([1], hash, "a"))
    }
}
