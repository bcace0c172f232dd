internal import SettleCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Combines the operations on one document into one change, one operation after the other.
///
///                  create              update              delete
///     (none)       create              update              delete
///     create       –                   create, merged      nothing
///     update       –                   update, merged      delete
///     delete       update, all of it   –                   –
///     nothing      create              –                   –
///
/// Values are kept as their stored JSON text.
struct PendingDocument {
    private struct Attribute {
        var value: [UInt8]?
        var time: Date
        let place: Int
    }

    private let id: DocumentID
    private var operation: JournalEntry.Operation?
    private var attributes: [[UInt8]: Attribute] = [:]
    private var nextPlace = 0
    /// The attributes that a deleted document had or lost since it was synchronized.
    private var gone: [[UInt8]] = []
    private var revision: RevisionID
    private var time: Date

    /// Starts with an entry.
    init(_ entry: JournalEntry) {
        (id, revision, time) = (entry.documentID, entry.revision, entry.time)
        apply(entry)
    }

    /// Applies the next entry.
    mutating func apply(_ entry: JournalEntry) {
        revision = entry.revision
        time = entry.time
        switch (operation, entry.new) {
        case (.create, nil):
            operation = nil
            attributes = [:]
        case (_, nil):
            gone = names(of: entry.old) + attributes.keys
            attributes = [:]
            operation = .delete
        case (.delete, let new?):
            for name in gone { set(name, to: nil, at: entry.time) }
            recordChanges(from: nil, to: new, at: entry.time)
            gone = []
            operation = .update
        case (let known, let new?):
            recordChanges(from: entry.old, to: new, at: entry.time)
            operation = known ?? (entry.old == nil ? .create : .update)
        }
        // An attribute that never existed at the server need not be removed there.
        if operation == .create { attributes = attributes.filter { $0.value.value != nil } }
    }

    private mutating func set(_ name: [UInt8], to value: [UInt8]?, at time: Date) {
        let place = attributes[name]?.place ?? nextPlace
        attributes[name] = Attribute(value: value, time: time, place: place)
        if place == nextPlace { nextPlace += 1 }
    }

    /// Records each attribute whose value differs.
    private mutating func recordChanges(from old: RevisionContent?, to new: RevisionContent, at time: Date) {
        let before = BodyMembers(old?.body)
        let after = BodyMembers(new.body)
        for (index, name) in after.names.enumerated() {
            let value = after.value(at: index)
            if before.value(of: name, near: index)?.elementsEqual(value) != true {
                set(Array(name.utf8), to: Array(value), at: time)
            }
        }
        for name in before.names where after.value(of: name, near: 0) == nil {
            set(Array(name.utf8), to: nil, at: time)
        }
        let attachments = new.attachments
        guard
            old.map({ !RevisionContent(body: $0.body, attachments: attachments).isSame(as: $0) })
                ?? !attachments.isEmpty
        else { return }
        set(Self.attachmentsName, to: Self.list(attachments), at: time)
    }

    private func names(of content: RevisionContent?) -> [[UInt8]] {
        guard let content else { return [] }
        let names = BodyMembers(content.body).names.map { Array($0.utf8) }
        return content.attachments.isEmpty ? names : names + [Self.attachmentsName]
    }

    private static let attachmentsName = Array(WireAttachment.listName.utf8)

    private static func list(_ attachments: [DocumentAttachment]) -> [UInt8]? {
        guard !attachments.isEmpty else { return nil }
        return JSONValue.object(
            JSONObject(
                attachments.map { attachment in
                    (
                        attachment.name,
                        [
                            "content_type": .string(attachment.contentType),
                            "digest": .string(attachment.digest.description),
                            "length": .number(JSONNumber(attachment.length)),
                        ]
                    )
                })
        ).utf8
    }

    /// The pending change; `nil` if the operations cancel each other out, or changed nothing.
    var change: PendingChange? {
        guard let operation, operation != .update || !attributes.isEmpty else { return nil }
        let ordered = attributes.sorted { $0.value.place < $1.value.place }
        return PendingChange(
            documentID: id, operation: operation,
            attributes: ordered.map { name, attribute in
                PendingChange.Attribute(
                    name: String(decoding: name, as: UTF8.self),
                    value: attribute.value.flatMap { try? JSONValue(utf8: $0) }, time: attribute.time)
            }, revision: revision, time: time)
    }
}

// MARK: - BodyMembers

/// The positions of a stored body's members, for comparing two bodies without building their values.
struct BodyMembers {
    private let bytes: [UInt8]
    private let members: [(name: String, range: Range<Int>)]

    /// Scans a body; `nil` is treated as a body without members.
    init(_ body: DocumentBody?) {
        bytes = body?.utf8 ?? []
        members = bytes.isEmpty ? [] : (try? JSONOutline(bytes))?.members ?? []
    }

    /// The names in order.
    var names: [String] { members.map(\.name) }

    /// The text of a member's value.
    func value(at index: Int) -> ArraySlice<UInt8> { bytes[members[index].range] }

    /// The text of a member's value, searched first at its probable position; `nil` if it is absent.
    func value(of name: String, near index: Int) -> ArraySlice<UInt8>? {
        if index < members.count, members[index].name.utf8.elementsEqual(name.utf8) { return value(at: index) }
        return members.first { $0.name.utf8.elementsEqual(name.utf8) }.map { bytes[$0.range] }
    }
}
