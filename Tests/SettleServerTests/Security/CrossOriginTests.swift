import Settle
import SettleHTTP
import Testing

@testable import SettleServer

@Suite struct CrossOriginTests {
    private let ask: HTTPHeaders = [
        "Origin": "https://app.example", "Access-Control-Request-Method": "PUT",
        "Access-Control-Request-Headers": "Content-Type, If-Match",
    ]

    @Test func `by default no page of another origin is allowed`() throws {
        let client = try RouterClient.withDatabase()
        #expect(try client.send(as: "", "OPTIONS", "/db", headers: ask).status != 204)
        let answer = try client.send("GET", "/", headers: ["Origin": "https://app.example"])
        #expect(!answer.headers.fields.contains { $0.name.hasPrefix("Access-Control") })
    }

    @Test func `an allowed origin is answered, and only an allowed one`() throws {
        let client = try RouterClient {
            $0.security.crossOrigin = CrossOriginOptions(origins: ["https://app.example"])
            $0.security.crossOrigin?.allowsCredentials = true
        }
        let preflight = try client.send(as: "", "OPTIONS", "/db", headers: ask)
        #expect(preflight.status == 204)
        #expect(preflight.headers["Access-Control-Allow-Origin"] == "https://app.example")
        #expect(preflight.headers["Access-Control-Allow-Credentials"] == "true")
        #expect(preflight.headers["Access-Control-Allow-Headers"] == "Content-Type, If-Match")
        let answer = try client.send("GET", "/", headers: ["Origin": "https://app.example"])
        #expect(answer.headers["Access-Control-Allow-Origin"] == "https://app.example")
        for origin in ["https://app.example.evil", "http://app.example", "https://app.exampl", "null", ""] {
            let refused = try client.send("GET", "/", headers: ["Origin": origin])
            #expect(refused.headers["Access-Control-Allow-Origin"] == nil)
        }
        var strange = ask
        strange["Access-Control-Request-Headers"] = "X-Strange"
        #expect(try client.send(as: "", "OPTIONS", "/db", headers: strange).status != 204)
    }

    @Test func `with every origin allowed no credentials are`() throws {
        let client = try RouterClient {
            $0.security.crossOrigin = CrossOriginOptions(origins: ["*"])
            $0.security.crossOrigin?.allowsCredentials = true
        }
        let answer = try client.send("GET", "/", headers: ["Origin": "https://evil"])
        #expect(answer.headers["Access-Control-Allow-Origin"] == "https://evil")
        #expect(answer.headers["Access-Control-Allow-Credentials"] == nil)
    }
}
