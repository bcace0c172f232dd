internal import SettleCore

/// The scripts of a context. Workers keep contexts while there is room.
public struct ScriptSource: Sendable {
    /// The database that the scripts belong to. Databases share no contexts, and take turns.
    public let owner: String
    /// Identifies it among those of the owner; changes with the scripts.
    public let key: String
    /// The JSON for the prelude's `load`.
    let json: [UInt8]

    /// The functions of a design document.
    ///
    /// - Parameters:
    ///   - owner: The database.
    ///   - key: The document's id and revision.
    ///   - json: The document with its members.
    public init(owner: String, key: String, document json: [UInt8]) {
        self.owner = owner
        self.key = "d " + key
        self.json = json
    }

    /// The functions of views.
    ///
    /// - Parameters:
    ///   - owner: The database.
    ///   - key: The signature of the views.
    ///   - maps: The map functions, in order.
    ///   - library: The modules that they may require as `views/lib/…`.
    public init(owner: String, key: String, maps: [String], library: [UInt8]?) {
        self.owner = owner
        self.key = "v " + key
        var json = Array("{\"maps\":[".utf8)
        for (index, map) in maps.enumerated() {
            if index > 0 { json.append(UInt8(ascii: ",")) }
            JSONValue.append(map, to: &json)
        }
        json += Array("],\"lib\":".utf8) + (library ?? Array("null".utf8)) + Array("}".utf8)
        self.json = json
    }
}
