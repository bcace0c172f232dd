/// Sends headers with each request to one server.
struct HeaderClient: HTTPTransport {
    private let client: any HTTPTransport
    private let headers: TransportHeaders
    private let url: HTTPURL

    init(_ client: any HTTPTransport, _ headers: TransportHeaders, for url: HTTPURL) {
        (self.client, self.headers, self.url) = (client, headers, url)
    }

    var options: TransportOptions { client.options }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        guard !headers.fields.isEmpty, request.url.hasSameOrigin(as: url) else { return try await client.send(request) }
        var request = request
        request.headers.merge(headers)
        return try await client.send(request)
    }
}
