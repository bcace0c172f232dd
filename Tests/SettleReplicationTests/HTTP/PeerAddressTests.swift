import SettleHTTP
import Testing

@testable import SettleReplication

@Suite struct PeerAddressTests {
    @Test(arguments: [
        ("https://anna:hush@H.example/notes/", "https://h.example/notes", "https://a%40b@h.example/notes", false),
        ("ws://anna:hush@h:4984/notes", "ws://h:4984/notes", "ws://a%40b@h:4984/notes", true),
        ("WSS://h/notes", "wss://h/notes", "wss://a%40b@h/notes", true),
    ])
    func `an address keeps its scheme, and shows no password`(
        _ text: String, _ shown: String, _ named: String, _ isWebSocket: Bool
    ) throws {
        let address = try PeerAddress(text)
        #expect(address.description == shown && address.isWebSocket == isWebSocket)
        #expect(address.text(user: "a@b") == named && address.text(user: nil) == shown)
        #expect(address.withoutCredentials.url.user == nil)
    }

    @Test(arguments: ["notes", "ws:/hush/notes", "ftp://hush/notes", "ws://hush:x/notes", "wss://"])
    func `text that is no address is refused, and not repeated`(_ text: String) throws {
        let error = #expect(throws: TransportError.self) { try PeerAddress(text) }
        #expect(error?.code == .badURL && error?.message.contains("hush") == false)
    }

    @Test(arguments: ["notes", "ftp://h/notes"])
    func `the message about another scheme names all four`(_ text: String) throws {
        let error = #expect(throws: TransportError.self) { try PeerAddress(text) }
        for scheme in ["http://", "https://", "ws://", "wss://"] {
            #expect(error?.message.contains(" \(scheme)") == true, "\(scheme)")
        }
    }
}
