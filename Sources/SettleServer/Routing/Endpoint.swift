/// What answers one method of one route.
typealias Endpoint = @Sendable (RequestContext) throws -> HTTPResponse
