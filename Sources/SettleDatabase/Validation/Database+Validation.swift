extension Database {
    /// Registers a validation function under a name, in place of the one that had it.
    ///
    /// It is asked about every write from now on, local or replicated (SEMANTICS 114), and is not kept in the file:
    /// register it each time the database is opened, before replication starts (SEMANTICS 125). Several are
    /// asked in the order of their names; the first refusal decides.
    public func addValidation(_ name: String, _ validation: @escaping Validation) {
        validations.set(name, validation)
    }

    /// Takes a validation function away; nothing happens when there is none of that name.
    public func removeValidation(_ name: String) { validations.set(name, nil) }
}
