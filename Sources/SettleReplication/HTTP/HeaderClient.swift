/// Sends headers with each request to one server.
struct HeaderClient: HTTPClient {
    private let client: any HTTPClient
    private let headers: HTTPClientHeaders
    private let url: HTTPURL

    init(_ client: any HTTPClient, _ headers: HTTPClientHeaders, for url: HTTPURL) {
        (self.client, self.headers, self.url) = (client, headers, url)
    }

    func send(_ request: HTTPClientRequest) async throws -> HTTPClientResponse {
        guard !headers.fields.isEmpty, request.url.hasSameOrigin(as: url) else { return try await client.send(request) }
        var request = request
        request.headers.merge(headers)
        return try await client.send(request)
    }
}
