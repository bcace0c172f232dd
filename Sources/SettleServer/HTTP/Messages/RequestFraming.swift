internal import SettleHTTP
internal import SettlePlatform

/// Finds ambiguities in where a request ends.
///
/// If a proxy in front of the server sees another end than the server does, an attacker can smuggle a request past
/// the proxy. So everything that can be read in two ways is refused: two lengths, a length together with chunks, an
/// encoding other than exactly `chunked`, and two hosts.
enum RequestFraming {
    /// The problem; `nil` for a request that is framed well.
    static func problem(in headers: HTTPHeaders, version: String) -> String? {
        var hosts = 0
        var lengths = 0
        var encodings = 0
        for (name, value) in headers.fields {
            guard HTTPSyntax.isToken(name) else { return "the name of a header field is malformed" }
            guard HTTPSyntax.isValue(value) else {
                return "the value of a header field is malformed"
            }
            switch name.utf8.count {
            case 4 where name.lowercased() == "host":
                hosts += 1
                guard value.isEmpty || ClientRoute.isHost(value.trimmingBlanks()) else {
                    return "the Host is malformed"
                }
            case 14 where name.lowercased() == "content-length":
                lengths += 1
                let digits = value.trimmingBlanks().utf8
                guard (1...18).contains(digits.count), digits.allSatisfy({ 0x30...0x39 ~= $0 }) else {
                    return "the Content-Length is malformed"
                }
            case 17 where name.lowercased() == "transfer-encoding":
                encodings += 1
                guard value.lowercased() == "chunked" else { return "the Transfer-Encoding is not known" }
            default: continue
            }
        }
        // RFC 9112, section 3.2: two servers that choose different hosts would see different sites.
        if hosts > 1 { return "there is more than one Host" }
        if hosts == 0, version == "HTTP/1.1" { return "HTTP/1.1 needs a Host" }
        if lengths > 1 { return "there is more than one Content-Length" }
        if encodings > 1 { return "there is more than one Transfer-Encoding" }
        if encodings > 0, lengths > 0 { return "there are both a Content-Length and a Transfer-Encoding" }
        if encodings > 0, version != "HTTP/1.1" { return "a Transfer-Encoding needs HTTP/1.1" }
        return nil
    }
}
