import SettleHTTP
import Testing

@testable import SettleReplication

/// Signatures against the examples of RFC 5849.
@Suite struct OAuth1Tests {
    @Test func `the base string equals the standard's example`() throws {
        // Section 3.4.1.1, whose request also has two parameters in its body.
        let url = try HTTPURL("http://EXAMPLE.COM:80/request?b5=%3D%253D&a3=a&c%40=&a2=r%20b")
        let base = OAuth1.baseString(
            "post", url,
            [
                ("oauth_consumer_key", "9djdj82h48djs9d2"), ("oauth_token", "kkk9d7dh3k39sjv7"),
                ("oauth_signature_method", "HMAC-SHA1"), ("oauth_timestamp", "137131201"),
                ("oauth_nonce", "7d8f3e4a"), ("c2", ""), ("a3", "2 q"),
            ])
        #expect(
            base == "POST&http%3A%2F%2Fexample.com%2Frequest&a2%3Dr%2520b%26a3%3D2%2520q%26a3%3Da%26b5%3D%253D%25253D"
                + "%26c%2540%3D%26c2%3D%26oauth_consumer_key%3D9djdj82h48djs9d2%26oauth_nonce%3D7d8f3e4a"
                + "%26oauth_signature_method%3DHMAC-SHA1%26oauth_timestamp%3D137131201%26oauth_token%3Dkkk9d7dh3k39sjv7"
        )
    }

    @Test func `the signature equals the standard's example`() throws {
        // Section 1.2; its request has no oauth_version.
        let keys = OAuth1(
            consumerKey: "dpf43f3p2l4k3l03", consumerSecret: "kd94hf93k423kf44", token: "nnch734d00sl2jdk",
            tokenSecret: "pfkkdhi9sl3r4s00", method: .hmacSHA1)
        let url = try HTTPURL("http://photos.example.net/photos?file=vacation.jpg&size=original")
        let base = OAuth1.baseString(
            "GET", url,
            [
                ("oauth_consumer_key", "dpf43f3p2l4k3l03"), ("oauth_token", "nnch734d00sl2jdk"),
                ("oauth_signature_method", "HMAC-SHA1"), ("oauth_timestamp", "137131202"), ("oauth_nonce", "chapoH"),
            ])
        #expect(keys.signature(of: base) == "MdpQcU8iPSUjWoN/UDMsK2sui9I=")
    }

    @Test(arguments: [OAuth1.Method.hmacSHA1, .hmacSHA256])
    func `the header has all parts and no secret`(method: OAuth1.Method) throws {
        let keys = OAuth1(
            consumerKey: "app", consumerSecret: "hidden-1", token: "user/1", tokenSecret: "hidden-2", method: method)
        let header = keys.authorization("GET", try HTTPURL("http://h/db/"), time: 1000, nonce: "once")
        #expect(header.hasPrefix("OAuth oauth_consumer_key=\"app\", oauth_token=\"user%2F1\""))
        #expect(
            header.contains("oauth_signature_method=\"\(method.rawValue)\"") && header.contains("oauth_signature=\""))
        #expect(!header.contains("hidden"))
    }
}
