internal import SettlePlatform

/// Decides whether a revision may be stored; throwing refuses it.
///
/// It is called for every insert and update: saves, deletes, and replicated revisions (SEMANTICS 114). It runs inside
/// the write, so it should be fast and must not write to the database.
public typealias DocumentValidation = @Sendable (ValidationContext) throws -> Void

/// The validation functions of a database, by name.
final class ValidationList: Sendable {
    private let functions = Guarded<[String: DocumentValidation]>([:])
    private let snapshot = Guarded<[(name: String, function: DocumentValidation)]>([])

    /// Registers a function under a name, replacing a previous one; `nil` removes it.
    func set(_ name: String, _ function: DocumentValidation?) {
        let sorted = functions.withLock { functions in
            functions[name] = function
            return functions.sorted { $0.key < $1.key }.map { (name: $0.key, function: $0.value) }
        }
        snapshot.withLock { $0 = sorted }
    }

    var isEmpty: Bool { snapshot.withLock { $0.isEmpty } }

    /// Calls the functions in the order of their names; the first refusal decides (SEMANTICS 124).
    func check(_ context: ValidationContext, warn: (String) -> Void) throws {
        for (name, function) in snapshot.withLock({ $0 }) {
            do {
                try function(context)
            } catch let refusal as DocumentRejection {
                throw DatabaseError(
                    .refused, "validation \"\(name)\" refused \"\(context.newRevision.id)\": \(refusal.message)",
                    cause: refusal)
            } catch {
                warn("validation \"\(name)\" failed on \"\(context.newRevision.id)\": \(error)")
                let refusal = DocumentRejection(status: 500, message: "validation \"\(name)\" failed: \(error)")
                throw DatabaseError(
                    .refused, "validation \"\(name)\" failed on \"\(context.newRevision.id)\"", cause: refusal)
            }
        }
    }
}
