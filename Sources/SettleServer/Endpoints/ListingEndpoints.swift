internal import SettleCore
internal import SettleDatabase

/// Lists of documents: `_all_docs`, `_design_docs`, `_local_docs`.
enum ListingEndpoints {
    /// `GET /{db}/_all_docs` and its kin.
    static func list(_ namespace: ListingNamespace) -> Endpoint {
        .work { context in
            let database = try context.database()
            var query = ListingQuery(context.request)
            try query.take(context.query)
            return .json(
                stream: try ListingStream([listing(database, query, namespace, context.metrics)], of: database))
        }
    }

    /// `POST /{db}/_all_docs` and its kin.
    static func listSome(_ namespace: ListingNamespace) -> Endpoint {
        .work { context in
            try context.requireContentType()
            let database = try context.database()
            let body = try context.jsonObject()
            if let keys = body["keys"], keys.array == nil {
                throw HTTPError.badRequest("`keys` body member must be an array.")
            }
            var query = ListingQuery(context.request)
            try query.take(body)
            // What the query says goes before what the body says, as in CouchDB.
            try query.take(context.query)
            return .json(
                stream: try ListingStream([listing(database, query, namespace, context.metrics)], of: database))
        }
    }

    /// `POST /{db}/_all_docs/queries` and its kin.
    static func queries(_ namespace: ListingNamespace) -> Endpoint {
        .work { context in
            let database = try context.database()
            guard let queries = try context.jsonObject()["queries"] else {
                throw HTTPError.badRequest("POST body must include `queries` parameter.")
            }
            guard let list = queries.array else { throw HTTPError.badRequest("`queries` member must be an array.") }
            try RequestLimits.check(queries: list.count)
            let listings = try list.map { item in
                var query = ListingQuery(context.request)
                try query.take(context.query)
                try query.take(query: item.object ?? JSONObject())
                return try listing(database, query, namespace, context.metrics)
            }
            return .json(stream: ListingStream(listings, of: database, isMany: true))
        }
    }

    private static func listing(
        _ database: Database, _ query: ListingQuery, _ namespace: ListingNamespace,
        _ metrics: Metrics
    ) throws -> DocumentListing {
        try query.check()
        return DocumentListing(database: database, query: query, namespace: namespace, metrics: metrics)
    }
}
