import Foundation
import Settle
import Testing

@testable import SettleCommands

/// The settings of `settle serve` for databases in a PostgreSQL.
@Suite struct PostgresSettingsTests {
    private func make(
        _ words: [String], _ environment: [String: String] = [:], _ file: String? = nil
    ) throws -> ServeSettings {
        let arguments = try ArgumentParser(spec: ServeCommand.spec).parse(words)
        return try ServeSettings(arguments, environment: environment) { _ in Array((file ?? "").utf8) }
    }

    @Test func `a PostgreSQL takes the place of the folder, under the name of the host unless another is set`() throws {
        let plain = try make(["--postgres", "host=db"])
        let postgres = try #require(plain.postgres)
        #expect(postgres.address == "host=db" && postgres.connections == 16 && !postgres.node.isEmpty)
        #expect(postgres.passwordFile == nil && postgres.indexFolder == nil && postgres.secretsKeyFile == nil)
        #expect(plain.text("data") == nil)
        let shown = plain.json["settings"]
        #expect(shown?["postgres"] == ["value": "host=db", "source": "--postgres"])
        #expect(shown?["node"] == ["value": .string(postgres.node), "source": "default"])
        #expect(shown?["data"]?["value"] == .null)
        let file = #"{"postgres": "postgres://anna@a:1,b:2/settle", "postgres_connections": 4, "node": "a1"}"#
        let words = ["--config", "f", "--index-dir", "i", "--postgres-secrets-key-file", "k"]
        let full = try #require(try make(words, ["SETTLE_POSTGRES_PASSWORD_FILE": "p"], file).postgres)
        #expect(full.connections == 4 && full.node == "a1" && full.passwordFile == "p")
        #expect(full.indexFolder == "i" && full.secretsKeyFile == "k")
        #expect(try make([]).postgres == nil)
        #expect(try make([]).text("data") == "data")
    }

    @Test(
        arguments: [
            (["--postgres", "host=db", "--data", "d"], [:], nil, 2, "exclude each other"),
            (["--postgres", "host=db"], ["SETTLE_DATA": "d"], nil, 2, "SETTLE_DATA"),
            (["--config", "f"], [:], #"{"postgres": "host=db", "data": "d"}"#, 5, "`data` and `postgres`"),
            (["--config", "f", "--data", "d"], [:], #"{"postgres": "host=db"}"#, 2, "`postgres`"),
            (["--node", "a"], [:], nil, 2, "--node needs --postgres"),
            ([], ["SETTLE_INDEX_DIR": "i"], nil, 2, "SETTLE_INDEX_DIR needs"),
            (["--config", "f"], [:], #"{"postgres_connections": 3}"#, 5, "`postgres_connections` needs"),
            (["--postgres", "host=db", "--config", "f"], [:], #"{"postgres_connections": 0}"#, 5, "whole number"),
            (["--postgres", ""], [:], nil, 2, "needs a connection string"),
        ] as [([String], [String: String], String?, Int32, String)])
    func `settings that don't go together are refused`(
        words: [String], environment: [String: String], file: String?, status: Int32, part: String
    ) {
        #expect {
            _ = try make(words, environment, file)
        } throws: { error in
            let error = CommandError(error)
            return error.status.rawValue == status && error.message.contains(part)
        }
    }

    @Test(arguments: [
        "host=db password=hush!", "host=db PASSWORD = 'hush!'", "password='hush!' host=db", "sslpassword=hush! host=db",
        "postgres://anna:hush!@db/settle", "postgresql://anna:hush!@db:5432", "postgres://anna:hu/sh!@db/settle",
        "postgres://:hush!@db", "postgres://db/settle?user=anna&password=hush!", "postgres://db?pass%77ord=hush!",
        "host=db oauth_client_secret=hush!", "host=db scram_client_key=hush!",
    ])
    func `a password in the connection string is refused and not repeated`(address: String) {
        for (words, environment, file) in [
            (["--postgres", address], [:], nil), ([], ["SETTLE_POSTGRES": address], nil),
            (["--config", "f"], [:], JSONValue.object(["postgres": .string(address)]).description),
        ] as [([String], [String: String], String?)] {
            #expect {
                _ = try make(words, environment, file)
            } throws: { error in
                let message = CommandError(error).message
                return message.contains("--postgres-password-file") && !message.contains("hu")
            }
        }
    }

    @Test(arguments: [
        "host=db dbname=settle user=anna passfile=/etc/p sslmode=verify-full",
        "postgres://anna@db:5432/settle?sslmode=require",
        "host=db require_auth=password sslmode=require", "postgresql:///settle?host=/run/postgresql&port=5433",
        "postgres://db:5432/settle", "service=settle",
    ])
    func `a connection string without a password is taken`(address: String) throws {
        #expect(try make(["--postgres", address]).postgres?.address == address)
    }

    @Test func `what is served is said with the node`() throws {
        let administrator: AdministratorSetting? = nil
        let shared = ServeAnnouncement(
            place: "db:5432/settle", node: "a1", host: "::1", port: 5984, isSecure: false, hasConsole: true,
            administrator: administrator, made: nil)
        #expect(shared.text.hasPrefix("Serving PostgreSQL at db:5432/settle as node a1 on http://[::1]:5984/\n"))
        #expect(shared.json["postgres"] == "db:5432/settle" && shared.json["node"] == "a1")
        #expect(shared.json["data"] == nil)
        #expect(shared.fields.map(\.key) == ["url", "postgres", "node", "process"])
        let folder = ServeAnnouncement(
            place: "data", node: nil, host: "::1", port: 5984, isSecure: false, hasConsole: true,
            administrator: administrator, made: nil)
        #expect(folder.text.hasPrefix("Serving data on http://[::1]:5984/\n") && folder.json["data"] == "data")
        #expect(folder.json["postgres"] == nil && folder.fields.map(\.key) == ["url", "data", "process"])
    }
}
