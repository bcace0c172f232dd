import Foundation
import SettlePlatform
import Testing

@Suite struct Base64Tests {
    @Test(arguments: 0..<70) func `bytes come back, and are what Foundation makes of them`(length: Int) {
        var random = SystemRandomNumberGenerator()
        let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
        let text = Base64.encode(bytes)
        #expect(text == Data(bytes).base64EncodedString())
        #expect(Base64.decode(text.utf8) == bytes)
        #expect(Base64.decodeFromURL(Base64.encodeForURL(bytes)) == bytes)
    }

    @Test(arguments: [
        "A", "AB", "ABC", "ABCDE", "====", "A===", "AB=C", "AB==CDEF", "AB C", "AB\nC", "ABC-", "AB€", "=ABC",
    ])
    func `what is not base64 is refused`(text: String) {
        #expect(Base64.decode(text.utf8) == nil)
    }

    @Test(arguments: [("", []), ("AA==", [0]), ("AP8=", [0, 255]), ("+/+/", [251, 255, 191])])
    func `a text is its bytes`(text: String, bytes: [UInt8]) { #expect(Base64.decode(text.utf8) == bytes) }
}
