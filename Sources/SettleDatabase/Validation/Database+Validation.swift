extension Database {
    /// Registers a validation function under a name, replacing a previous one.
    ///
    /// It is called for every write from now on, local or replicated (SEMANTICS 114), and is not stored in the file:
    /// register it each time the database is opened, before replication starts (SEMANTICS 125). Several functions are
    /// called in the order of their names; the first refusal decides.
    public func addValidation(_ name: String, _ validation: @escaping DocumentValidation) {
        validations.set(name, validation)
    }

    /// Removes a validation function; does nothing if there is none with that name.
    public func removeValidation(_ name: String) { validations.set(name, nil) }
}
