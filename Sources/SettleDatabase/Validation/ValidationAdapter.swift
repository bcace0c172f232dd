/// Creates validations from other databases' function types (K17).
public enum ValidationAdapter {
    /// The response object that Couchbase Lite 1 passes to a validation block: it takes a status and a message.
    public final class Response {
        /// The status of the refusal.
        public var errorType = 403
        /// The message of the refusal; the first one set stays (SEMANTICS 123).
        public var errorMessage = "invalid document" {
            didSet { if hasMessage { errorMessage = oldValue } else { hasMessage = true } }
        }
        private var hasMessage = false
        fileprivate private(set) var isRejected = false

        /// Refuses the revision with a message, as in later versions of the same block.
        public func reject(_ message: String = "invalid document") {
            isRejected = true
            errorMessage = message
        }

        /// Whether all of these members are unchanged; if one has changed, the message names it.
        public func disallowChanges(to names: Set<String>, in context: ValidationContext) -> Bool {
            do { try context.disallowChanges(to: names) } catch {
                errorMessage = (error as? DocumentRejection)?.message ?? errorMessage
                return false
            }
            return true
        }
    }

    /// A validation from a block that returns whether the revision is valid.
    public static func returning(
        _ block: @escaping @Sendable (ValidationContext, Response) -> Bool
    ) -> DocumentValidation {
        { context in
            let response = Response()
            let isValid = block(context, response)
            if !isValid || response.isRejected {
                throw DocumentRejection(status: response.errorType, message: response.errorMessage)
            }
        }
    }

    /// A validation from a block that calls `reject` for invalid revisions.
    public static func rejecting(
        _ block: @escaping @Sendable (ValidationContext, Response) -> Void
    ) -> DocumentValidation {
        returning { context, response in
            block(context, response)
            return true
        }
    }
}
