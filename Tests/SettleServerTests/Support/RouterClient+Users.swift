import Settle
import SettleCore
import SettleDatabase
import SettleHTTP
import SettlePlatform
import Testing

@testable import SettleServer

extension RouterClient {
    /// A client with a database `db`, and users in `_users`, each with the password `pw`.
    static func with(
        users: [String: [String]], _ change: (inout ServerOptions) -> Void = { _ in }
    ) throws -> RouterClient {
        let client = try RouterClient(change)
        #expect(try client.send("PUT", "/_users").status == 201)
        #expect(try client.send("PUT", "/db").status == 201)
        for (name, roles) in users {
            let answer = try client.send("PUT", "/_users/org.couchdb.user:\(name)", Self.user(name, roles))
            #expect(answer.status == 201)
        }
        return client
    }

    /// A user's document.
    static func user(_ name: String, _ roles: [String] = [], password: String = "pw") -> JSONValue {
        [
            "name": .string(name), "roles": .array(roles.map(JSONValue.string)), "type": "user",
            "password": .string(password),
        ]
    }

    /// Sends a request of a user, `name:password`, or an anonymous one if empty.
    func send(
        as credentials: String, _ method: String, _ path: String, _ body: JSONValue? = nil,
        headers: HTTPHeaders = HTTPHeaders()
    ) throws -> Answer {
        var headers = headers
        headers["Authorization"] = credentials.isEmpty ? "" : "Basic " + Base64.encode(Array(credentials.utf8))
        return try send(method, path, body, headers: headers)
    }
}

extension Authenticator {
    /// Logs in and waits for the outcome.
    func login(_ name: String, _ password: [UInt8], peer: String) throws -> Account? {
        let outcome = Monitor<Result<Account?, any Error>?>(nil)
        login(name, password, peer: peer) { result in outcome.update { $0 = result } }
        return try outcome.wait { $0 }.get()
    }
}

extension PasswordHasher {
    /// Verifies a password and waits for the outcome.
    func verify(
        _ password: [UInt8], against hash: PasswordHash?, of name: String,
        precheck: @escaping @Sendable () throws -> Void = {}
    ) throws -> Bool {
        let outcome = Monitor<Result<Bool, any Error>?>(nil)
        verify(
            password, against: hash, Seat(address: "", name: name, isKnown: hash != nil), precheck: precheck,
            taker: { result in outcome.update { $0 = result } })
        return try outcome.wait { $0 }.get()
    }
}
