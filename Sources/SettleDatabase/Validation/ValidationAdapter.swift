/// Makes validations of the shapes other databases use (K17), and of a JSON Schema.
public enum ValidationAdapter {
    /// What Couchbase Lite 1 hands to a validation block beside the new revision: where to put a status and a message.
    public final class Response {
        /// The status to refuse with.
        public var errorType = 403
        /// The message to refuse with; the first one set stays (SEMANTICS 123).
        public var errorMessage = "invalid document" {
            didSet { if hasMessage { errorMessage = oldValue } else { hasMessage = true } }
        }
        private var hasMessage = false
        fileprivate private(set) var isRejected = false

        /// Refuses the revision with a message: the later shape of the same block.
        public func reject(_ message: String = "invalid document") {
            isRejected = true
            errorMessage = message
        }

        /// Whether none of these members is changed; if one is, the message names it.
        public func disallowChanges(to names: Set<String>, in context: ValidationContext) -> Bool {
            do { try context.disallowChanges(to: names) } catch {
                errorMessage = (error as? ValidationError)?.message ?? errorMessage
                return false
            }
            return true
        }
    }

    /// A validation of a block that returns whether the revision is valid.
    public static func returning(
        _ block: @escaping @Sendable (ValidationContext, Response) -> Bool
    ) -> Validation {
        { context in
            let response = Response()
            let isValid = block(context, response)
            if !isValid || response.isRejected {
                throw ValidationError(status: response.errorType, message: response.errorMessage)
            }
        }
    }

    /// A validation of a block that calls `reject` for what is not valid.
    public static func rejecting(_ block: @escaping @Sendable (ValidationContext, Response) -> Void) -> Validation {
        returning { context, response in
            block(context, response)
            return true
        }
    }
}
