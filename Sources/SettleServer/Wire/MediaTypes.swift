internal import SettlePlatform

/// The media types that a client accepts.
enum MediaTypes {
    /// Whether a type is accepted, as CouchDB decides it: by its name or a star; quality counts only if it is 0.
    static func accepts(_ type: String, _ request: HTTPRequest) -> Bool {
        guard let header = request.headers["Accept"] else { return true }
        let main = type.prefix { $0 != "/" }
        return header.split(separator: ",").contains { item in
            let parts = item.split(separator: ";").map { String($0).trimmingBlanks() }
            guard let name = parts.first else { return false }
            if parts.dropFirst().contains(where: { $0 == "q=0" || $0 == "q=0.0" }) { return false }
            return name == type || name == "*/*" || name == "\(main)/*"
        }
    }
}
