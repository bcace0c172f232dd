internal import CPostgres
internal import SettleDatabase
internal import SettlePlatform

/// The settings with which a node connects to PostgreSQL.
///
///     PostgresConfiguration("host=db1,db2 dbname=settle user=settle_app sslmode=verify-full", passwordFile: "secret")
///
/// The connection string is libpq's: `name=value` pairs, or a URL. If it names several hosts, the one that accepts
/// writes is used.
public struct PostgresConfiguration: Sendable {
    /// The connection string. It contains no password.
    public let connection: String
    /// The file whose first line is the password; `nil` without a password, for example with client certificates.
    public var passwordFile: String?
    /// The maximum number of connections that a node opens for requests; 16 by default. An additional one listens
    /// for notifications.
    public var connections = 16
    /// The name of this node, which leases and `_scheduler` show. It must be unique among the nodes.
    public var node: String
    private let parameters: [(name: String, value: String)]

    /// Reads a connection string.
    ///
    /// - Parameters:
    ///   - connection: The string.
    ///   - passwordFile: The file with the password.
    ///   - node: The node's name; by default the host name and the process id.
    /// - Throws: ``DatabaseError`` with code `invalid` for a string that libpq can't parse, that contains a
    ///   password, or that allows an unencrypted or unverified connection to another machine, which requires
    ///   `sslmode=verify-full`.
    public init(_ connection: String, passwordFile: String? = nil, node: String? = nil) throws {
        self.connection = connection
        self.passwordFile = passwordFile
        self.node = node ?? "\(Self.hostName)-\(getpid())"
        parameters = try Self.parse(connection)
        let names = Set(parameters.map(\.name))
        guard names.isDisjoint(with: ["password", "passfile"]) else {
            throw DatabaseError(
                .invalid,
                "the connection string must not contain a password: put it into a file, --postgres-password-file")
        }
        if isRemote, value("sslmode") != "verify-full" {
            throw DatabaseError(
                .invalid,
                """
                a connection to another machine must be encrypted and checked: add sslmode=verify-full, and sslrootcert=… \
                with the authority's certificate
                """)
        }
    }

    /// The address in messages: hosts, ports and database.
    public var place: String {
        let hosts = (value("host") ?? value("hostaddr") ?? "local socket").split(separator: ",").joined(separator: ",")
        return "\(hosts):\(value("port") ?? "5432")/\(value("dbname") ?? value("user") ?? "postgres")"
    }

    /// Whether any host is another machine.
    ///
    /// libpq also reads hosts from the environment and from a service file.
    private var isRemote: Bool {
        if value("service") != nil || getenv("PGSERVICE") != nil { return true }
        let given = [
            value("host") ?? getenv("PGHOST").map { String(cString: $0) },
            value("hostaddr") ?? getenv("PGHOSTADDR").map { String(cString: $0) },
        ]
        let hosts = given.compactMap(\.self).flatMap { $0.split(separator: ",") }
        return hosts.contains { host in
            !(host.hasPrefix("/") || host.hasPrefix("@") || host == "localhost" || host == "::1"
                || host.hasPrefix("127."))
        }
    }

    /// The number of servers in the string; they are tried in order.
    var hosts: Int {
        (value("host") ?? value("hostaddr")).map { $0.split(separator: ",", omittingEmptySubsequences: false).count }
            ?? 1
    }

    /// The parameters of a connection, including the password. The first `passed` servers are moved to the end.
    ///
    /// - Throws: ``DatabaseError`` with code `inputOutput` if the password file can't be read.
    func connectionParameters(passing passed: Int = 0) throws -> [(String, String)] {
        var all: [(String, String)] = [
            ("target_session_attrs", "read-write"), ("connect_timeout", "2"), ("tcp_user_timeout", "3000"),
            ("application_name", "settle \(node)"),
        ]
        all += parameters.map { parameter in
            let parts = parameter.value.split(separator: ",", omittingEmptySubsequences: false)
            guard ["host", "hostaddr", "port"].contains(parameter.name), parts.count == hosts else { return parameter }
            return (parameter.name, (parts.dropFirst(passed) + parts.prefix(passed)).joined(separator: ","))
        }
        if let passwordFile { all.append(("password", try Self.firstLine(of: passwordFile))) }
        return all
    }

    /// The parameters of a connection to one of the servers, even if it does not accept writes.
    ///
    /// - Throws: As ``connectionParameters(passing:)``.
    func connectionParameters(only host: Int) throws -> [(String, String)] {
        try connectionParameters(passing: host).map { name, value in
            let parts = value.split(separator: ",", omittingEmptySubsequences: false)
            guard ["host", "hostaddr", "port"].contains(name), parts.count == hosts else { return (name, value) }
            return (name, String(parts[0]))
        } + [("target_session_attrs", "any")]
    }

    private func value(_ name: String) -> String? { parameters.last { $0.name == name }?.value }

    private static func parse(_ connection: String) throws -> [(name: String, value: String)] {
        var message: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(connection, &message) else {
            // The message may repeat a part of the string, so it is not used.
            PQfreemem(message)
            throw DatabaseError(
                .invalid,
                "the connection string can't be read; it looks like: host=127.0.0.1 dbname=settle user=settle_app")
        }
        defer { PQconninfoFree(options) }
        var found: [(name: String, value: String)] = []
        var next = options
        while let keyword = next.pointee.keyword {
            if let value = next.pointee.val { found.append((String(cString: keyword), String(cString: value))) }
            next += 1
        }
        return found
    }

    private static func firstLine(of path: String) throws -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            throw DatabaseError(
                .inputOutput, "can't read the password file \(path): \(String(cString: strerror(errno)))")
        }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(file, &bytes, bytes.count)
        let line = bytes.prefix(max(count, 0)).prefix { $0 != 10 && $0 != 13 }
        guard !line.isEmpty else {
            throw DatabaseError(.inputOutput, "the password file \(path) begins with an empty line")
        }
        return String(decoding: line, as: UTF8.self)
    }

    private static var hostName: String {
        var bytes = [CChar](repeating: 0, count: 256)
        guard gethostname(&bytes, bytes.count - 1) == 0 else { return "node" }
        return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
