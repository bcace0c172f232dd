/// The administrator configured for `settle serve`, and the source of the password.
///
/// A password after a name belongs to that name. Otherwise the strongest other source counts, so that a name given as an
/// option is combined with the password of the environment.
struct AdministratorSetting {
    /// The source of a password.
    enum Place: Equatable {
        /// After the name, or in the environment.
        case given(String)
        /// The first line of this file.
        case file(String)
    }

    let name: String
    let place: Place
    /// The option or variable of the password: `--admin`, `SETTLE_ADMIN_PASSWORD`.
    let origin: String
    /// Whether the password is among the arguments of the process, where others can see it.
    let isVisible: Bool

    /// - Returns: `nil` if no administrator is named.
    /// - Throws: ``CommandError`` with status `usage` for a name without a password, or a password without a name.
    init?(_ settings: ServeSettings) throws {
        let others = ["admin_password", "admin_password_file"].compactMap { name in
            ServeSetting.all.first { $0.name == name }
        }
        let origins = Dictionary(
            uniqueKeysWithValues: ServeSetting.all.map { ($0.name, settings.origin($0) ?? $0.flag) })
        let given = others.filter { settings.source($0.name) != nil }
        guard let admin = settings.text("admin"), let source = settings.source("admin") else {
            guard let stray = given.first else { return nil }
            throw CommandError.usage(
                "\(origins[stray.name] ?? stray.flag) needs --admin or SETTLE_ADMIN", verb: "serve")
        }
        let parts = admin.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        name = parts[0]
        let strongest = given.compactMap { settings.source($0.name) }.min()
        if parts.count == 2, strongest.map({ source <= $0 }) ?? true {
            if source == strongest { throw Self.twice }
            place = .given(parts[1])
            origin = origins["admin"] ?? "--admin"
            isVisible = source == .option
            return
        }
        isVisible = parts.count == 2 && source == .option
        let chosen = given.filter { settings.source($0.name) == strongest }
        guard let setting = chosen.first, let text = settings.text(setting.name) else {
            throw CommandError.usage(
                "--admin needs a password: in --admin-password-file, or in SETTLE_ADMIN_PASSWORD", verb: "serve")
        }
        if chosen.count > 1 { throw Self.twice }
        place = setting.isSecret ? .given(text) : .file(text)
        origin = setting.isSecret ? setting.variable : "the file \(text)"
    }

    private static var twice: CommandError {
        CommandError.usage("the administrator's password was given twice, with equal priority", verb: "serve")
    }
}
