internal import SettlePlatform

/// Parses addresses strictly: text that a server, a proxy and curl could interpret differently is rejected.
enum HTTPURLReader {
    /// - Parameters:
    ///   - text: The address.
    ///   - keepsLastSlash: Whether a trailing slash of the path counts, as in a redirect.
    ///   - schemes: The schemes that the caller allows, for the message.
    /// - Returns: The address.
    /// - Throws: ``TransportError`` with code `badURL`.
    static func read(
        _ text: String, keepsLastSlash: Bool, schemes: String = "http:// or https://"
    ) throws(TransportError) -> HTTPURL {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else {
            throw bad("blanks and control characters have to be escaped, a blank as %20")
        }
        guard let mark = text.firstRange(of: "://") else {
            throw bad("it has to begin with \(schemes)")
        }
        guard let scheme = HTTPURL.Scheme(rawValue: text[..<mark.lowerBound].lowercased()) else {
            throw bad("it has to begin with \(schemes)")
        }
        let rest = text[mark.upperBound...].prefix { $0 != "#" }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let target = rest[authority.endIndex...]
        let (user, password, place) = try credentials(authority)
        let (host, port) = try hostAndPort(place)
        var path = String(target.prefix { $0 != "?" })
        let query = target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
        if keepsLastSlash { if path == "/" { path = "" } } else { while path.hasSuffix("/") { path.removeLast() } }
        guard PercentCoding.isValid(path) else { throw bad("a % in the path begins no escape: write it as %25") }
        return HTTPURL(
            scheme: scheme, host: host, port: port, path: PercentCoding.completing(path),
            query: query.map(PercentCoding.completing), user: user, password: password)
    }

    private static func credentials(
        _ authority: Substring
    ) throws(TransportError) -> (user: String?, password: String?, place: Substring) {
        guard let at = authority.lastIndex(of: "@") else { return (nil, nil, authority) }
        let information = authority[..<at]
        guard PercentCoding.isValid(information) else {
            throw bad("a % in the user or the password begins no escape: write it as %25")
        }
        let place = authority[authority.index(after: at)...]
        guard let colon = information.firstIndex(of: ":") else {
            return (PercentCoding.decode(information), nil, place)
        }
        let password = information[information.index(after: colon)...]
        return (PercentCoding.decode(information[..<colon]), PercentCoding.decode(password), place)
    }

    private static func hostAndPort(_ place: Substring) throws(TransportError) -> (host: String, port: Int?) {
        var host = place
        var port: Substring?
        if place.hasPrefix("[") {
            guard let end = place.firstIndex(of: "]") else { throw bad("the [ of an IPv6 number is not closed") }
            host = place[place.index(after: place.startIndex)..<end]
            let behind = place[place.index(after: end)...]
            guard behind.isEmpty || behind.hasPrefix(":") else { throw bad("only a port may follow the host") }
            port = behind.isEmpty ? nil : behind.dropFirst()
            guard host.contains(":"), host.utf8.allSatisfy(isInNumber) else { throw bad("an IPv6 number is wrong") }
        } else {
            if let colon = place.firstIndex(of: ":") {
                (host, port) = (place[..<colon], place[place.index(after: colon)...])
            }
            guard host.utf8.allSatisfy(isInName) else { throw bad("the host has characters that no host has") }
        }
        guard !host.isEmpty else { throw bad("it has no host: write https://host/database") }
        guard let port, !port.isEmpty else { return (host.lowercased(), nil) }
        guard port.utf8.allSatisfy({ 48...57 ~= $0 }), let number = Int(port), 1...65535 ~= number else {
            throw bad("the port has to be a number from 1 to 65535")
        }
        return (host.lowercased(), number)
    }

    private static func isInNumber(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"): true
        case UInt8(ascii: ":"), UInt8(ascii: "."): true
        default: false
        }
    }

    private static func isInName(_ byte: UInt8) -> Bool {
        switch byte {
        case 48...57, UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), 0x80...: true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
        default: false
        }
    }

    private static func bad(_ reason: String) -> TransportError {
        TransportError(.badURL, "this is no address of a database: \(reason)")
    }
}
