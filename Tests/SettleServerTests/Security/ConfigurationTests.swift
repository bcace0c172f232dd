import Settle
import Testing

@testable import SettleServer

@Suite struct ConfigurationTests {
    @Test func `a configuration sets only the options that it names`() throws {
        let text = #"""
            {"session_timeout": 60, "same_site": "strict", "anonymous": "up", "lockout_threshold": 0,
             "users_security_editable": true, "live_settings": true, "public_user_fields": ["name"], "www_authenticate": "Basic",
             "tokens": {"keys": [{"kid": "a", "secret": "czNjcmV0"}], "issuer": "me", "required_claims": ["exp", "sub"]},
             "proxy": {"secret": "x", "name_header": "X-Name"},
             "cors": {"origins": ["https://a"], "credentials": true, "max_age": 0}}
            """#
        let options = try SecurityOptions(configuration: Array(text.utf8))
        #expect(
            options.sessionTimeout == .seconds(60) && options.sameSite == .strict && options.anonymousAccess == .upOnly)
        #expect(options.lockoutThreshold == 0 && options.isUsersSecurityEditable && options.isListingForAdmins)
        #expect(options.allowsLiveSettings)
        #expect(options.publicUserFields == ["name"] && options.challenge == "Basic")
        #expect(options.tokens?.keys.first?.id == "a" && options.tokens?.issuer == "me")
        #expect(options.proxy?.nameHeader == "X-Name" && options.proxy?.tokenHeader == "X-Auth-CouchDB-Token")
        #expect(options.crossOrigin?.origins == ["https://a"] && options.crossOrigin?.allowsCredentials == true)
        let none = try SecurityOptions(configuration: Array("{}".utf8))
        #expect(
            none.passwordIterations == 600_000 && none.tokens == nil && none.proxy == nil && none.crossOrigin == nil
                && !none.allowsLiveSettings)
    }

    @Test(arguments: [
        "", "[]", #"{"session_timeout": 0}"#, #"{"sesion_timeout": 60}"#, #"{"anonymous": "maybe"}"#,
        #"{"anonymous": true}"#, #"{"tokens": {}}"#, #"{"tokens": {"keys": [{"kid": "a"}]}}"#,
        #"{"tokens": {"keys": [{"secret": "hush!"}]}}"#, #"{"tokens": {"keys": [{"secret": ""}]}}"#,
        #"{"tokens": {"keys": [{"pem": "hush!"}]}}"#, #"{"tokens": {"keys": [{"secret": "czNj", "pem": "x"}]}}"#,
        #"{"proxy": {}}"#, #"{"proxy": {"secret": "hush!", "x": 1}}"#, #"{"cors": {"origins": []}}"#,
        #"{"cors": {"origins": ["*"], "credentials": true}}"#, #"{"public_user_fields": "name"}"#,
    ])
    func `an error is reported, without any secret`(text: String) {
        #expect {
            try SecurityOptions(configuration: Array(text.utf8))
        } throws: { error in
            (error as? DatabaseError)?.code == .invalid && !"\(error)".contains("hush!")
        }
    }
}
