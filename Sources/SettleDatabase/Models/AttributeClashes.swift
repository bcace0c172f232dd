public import SettleCore

/// The attributes that a model and another writer have changed to different values, since the model was read.
///
/// It is the cause of the ``DatabaseError`` with code `conflict` that a save of a ``Saved`` throws.
public struct AttributeClashes: SettleError {
    /// One attribute.
    public struct Attribute: Hashable, Sendable {
        /// Its JSON Pointer. An element of a list with an identity is named by that: `/lines/7/amount`.
        public let path: String
        /// The value that was read; `nil` if the attribute did not exist.
        public let read: JSONValue?
        /// The value that another writer has stored; `nil` if it was removed.
        public let stored: JSONValue?
        /// The value to save; `nil` if it was removed.
        public let mine: JSONValue?
    }

    /// The document.
    public let documentID: DocumentID
    /// The revision that is stored.
    public let stored: RevisionID?
    /// The attributes, in the order of the document.
    public let attributes: [Attribute]

    /// Each attribute with its three values.
    public var description: String {
        let shown = attributes.prefix(5).map { attribute in
            "\(attribute.path) was \(text(attribute.read)), is \(text(attribute.stored)), and would be \(text(attribute.mine))"
        }
        return shown.joined(separator: "; ") + (attributes.count > 5 ? "; and \(attributes.count - 5) more" : "")
    }

    private func text(_ value: JSONValue?) -> String {
        guard let text = value?.description else { return "absent" }
        return text.count > 60 ? text.prefix(60) + "…" : text
    }

    /// The way in which an edit is applied to a state newer than the one it was based on.
    struct Merge {
        /// The names of members that identify elements of lists.
        let identities: [String]
        /// Whether the edit wins if both changed the same member.
        let isLastWriteWins: Bool
        /// Whether members of the document that both changed are merged as a whole.
        var isWhole: Bool
    }
}

extension AttributeClashes.Merge {
    /// Applies the changes of an edit to the state that is stored now.
    ///
    /// - Parameters:
    ///   - edited: The document with the edit.
    ///   - base: The document as it was read.
    ///   - current: The document as another writer has stored it.
    /// - Returns: The document to be saved on the current revision.
    /// - Throws: ``DatabaseError`` with code `conflict` and the clashes as cause.
    func merge(_ edited: Document, of base: Document, into current: Document) throws -> Document {
        func members(_ document: Document) -> JSONObject { document.json.object ?? JSONObject() }
        let (read, mine, theirs) = (members(base), members(edited), members(current))
        let clash: MergeRule = isLastWriteWins ? .winner : .leave
        var rules = MergeRules(onClash: clash)
        if isWhole {
            for name in Set((mine.names + theirs.names + read.names)) where read[name] != mine[name] {
                if read[name] != theirs[name] { rules[MergePath.pointer("", name)] = clash }
            }
        } else {
            addIdentities(read, mine, theirs, at: "", to: &rules)
        }
        let outcome = ThreeWayMerge.merge(
            base: read, versions: isLastWriteWins ? [mine, theirs] : [theirs, mine], rules: rules)
        guard let merged = outcome.merged else {
            let left = outcome.decisions.filter(\.reason.isLeft).map { decision in
                AttributeClashes.Attribute(
                    path: decision.path, read: decision.base, stored: decision.versions.first ?? nil,
                    mine: decision.versions.last ?? nil)
            }
            let clashes = AttributeClashes(documentID: base.id, stored: current.revision, attributes: left)
            let (readAt, storedAt) = (base.revision?.description ?? "", current.revision?.description ?? "")
            throw DatabaseError(
                .conflict,
                """
                "\(base.id)" was read at \(readAt), but \(storedAt) is stored: \(clashes); read it again and retry, or \
                say what wins
                """, cause: clashes)
        }
        var document = current
        document.json = .object(merged)
        return document
    }

    /// Adds a rule for each list whose elements have an identity, if merging the list loses no edit: neither side
    /// removed an element that the other side changed, and at most one side moved elements.
    private func addIdentities(
        _ read: JSONObject, _ mine: JSONObject, _ theirs: JSONObject, at path: String, to rules: inout MergeRules
    ) {
        for member in read {
            let place = MergePath.pointer(path, member.name)
            guard let left = mine[member.name], let right = theirs[member.name] else { continue }
            if case .object(let read) = member.value, case .object(let mine) = left, case .object(let theirs) = right {
                addIdentities(read, mine, theirs, at: place, to: &rules)
            } else if case .array(let read) = member.value, case .array(let mine) = left,
                case .array(let theirs) = right
            {
                let name = identities.first { areMerged(read, mine, theirs, by: $0) }
                if let name { rules[place] = .array(identifiedBy: name) }
            }
        }
    }

    private func areMerged(_ read: [JSONValue], _ mine: [JSONValue], _ theirs: [JSONValue], by name: String) -> Bool {
        func elements(_ list: [JSONValue]) -> [JSONValue: JSONValue]? {
            let pairs = list.compactMap { element in ListAlignment.identity(element, name).map { ($0, element) } }
            let elements = Dictionary(pairs) { first, _ in first }
            return elements.count == list.count ? elements : nil
        }
        guard let base = elements(read), let left = elements(mine), let right = elements(theirs) else { return false }
        let isRemovedAndChanged = base.contains { identity, element in
            switch (left[identity], right[identity]) {
            case (nil, let other?), (let other?, nil): other != element
            default: false
            }
        }
        func moved(_ list: [JSONValue], _ kept: [JSONValue: JSONValue]) -> Bool {
            let order = list.compactMap { ListAlignment.identity($0, name) }.filter { base[$0] != nil }
            return order != read.compactMap { ListAlignment.identity($0, name) }.filter { kept[$0] != nil }
        }
        return !isRemovedAndChanged && !(moved(mine, left) && moved(theirs, right))
    }
}
