/// All routes at a glance: the path, its access rule, the header `Allow`, and the endpoint of each method.
enum RoutingTable {
    static let tree = RouteTree(routes)
    static let routes: [Route] = server + database + queries + listings + design + documents

    private static let server: [Route] = [
        Route("/", .anyone, "GET,HEAD", ["GET": ServerEndpoints.welcome]),
        Route("/_up", .anyone, "GET,HEAD", ["GET": ServerEndpoints.up]),
        Route("/_utils", .anyone, "GET,HEAD", ["GET": ConsoleEndpoints.page]),
        Route("/_utils/{file...}", .anyone, "GET,HEAD", ["GET": ConsoleEndpoints.file]),
        Route("/_condition", .anyone, "POST", ["POST": FindEndpoints.condition]),
        Route("/_policies", .anyone, "GET,HEAD", ["GET": SettleEndpoints.policies]),
        Route("/_uuids", .anyone, "GET", ["GET": ServerEndpoints.uuids]),
        Route("/_all_dbs", .lister, "GET,HEAD", ["GET": ServerEndpoints.allDatabases]),
        Route(
            "/_dbs_info", .lister, "GET,HEAD,POST",
            ["GET": ServerEndpoints.databasesInfo, "POST": ServerEndpoints.someDatabasesInfo], body: .whole),
        Route("/_db_updates", .serverAdmin, "GET", ["GET": ChangesEndpoints.updates]),
        Route("/_membership", .serverAdmin, "GET", ["GET": NodeEndpoints.membership]),
        Route("/_active_tasks", .serverAdmin, "GET,HEAD", ["GET": MonitoringEndpoints.activeTasks]),
        Route(
            "/_session", .anyone, "GET,HEAD,POST,DELETE",
            [
                "GET": SessionEndpoints.read, "POST": SessionEndpoints.login, "DELETE": SessionEndpoints.logout,
            ]),
        Route("/_replicate", .serverAdmin, "POST", ["POST": ReplicateEndpoint.replicate], body: .whole),
        Route("/_scheduler/jobs", .serverAdmin, "GET,HEAD", ["GET": SchedulerEndpoints.jobs]),
        Route("/_scheduler/jobs/{id}", .serverAdmin, "GET,HEAD", ["GET": SchedulerEndpoints.job]),
        Route("/_scheduler/ledger/{id}", .serverAdmin, "GET,HEAD", ["GET": SchedulerEndpoints.ledger]),
        Route("/_scheduler/docs", .serverAdmin, "GET,HEAD", ["GET": SchedulerEndpoints.documents]),
        Route("/_scheduler/docs/{what...}", .serverAdmin, "GET,HEAD", ["GET": SchedulerEndpoints.documents]),
        Route("/_scheduler/{what...}", .serverAdmin, "GET,HEAD", [:]),
        Route(
            "/_node/{node}/_config/admins/{name}", .serverAdmin, "GET,PUT,DELETE",
            [
                "GET": AdministratorEndpoints.read, "PUT": AdministratorEndpoints.put,
                "DELETE": AdministratorEndpoints.delete,
            ]),
        Route(
            "/_node/{node}/_config/{section}/{key}", .serverAdmin, "GET,PUT,DELETE",
            [
                "GET": ConfigurationEndpoints.read, "PUT": ConfigurationEndpoints.put,
                "DELETE": ConfigurationEndpoints.delete,
            ]),
        Route("/_node/{node}/_config", .serverAdmin, "GET", ["GET": ConfigurationEndpoints.all]),
        Route("/_node/{node}/_config/{section}", .serverAdmin, "GET", ["GET": ConfigurationEndpoints.section]),
        Route("/_node/{node}/_prometheus", .metrics, "GET", ["GET": MonitoringEndpoints.prometheus]),
        Route("/_node/{node}/_stats", .metrics, "GET", ["GET": MonitoringEndpoints.statistics]),
        Route("/_node/{node}/_stats/{what...}", .metrics, "GET", ["GET": MonitoringEndpoints.statistics]),
        Route("/_node/{node}/_settings", .serverAdmin, "GET", ["GET": NodeEndpoints.settings]),
        Route("/_node/{node}/_log", .serverAdmin, "GET", ["GET": NodeEndpoints.log]),
        Route("/_node/{node}/_versions", .serverAdmin, "GET", ["GET": NodeEndpoints.versions]),
        Route("/_node/{node}", .serverAdmin, "GET", ["GET": NodeEndpoints.node]),
        Route("/_node/{what...}", .serverAdmin, "GET", notYet("/_node", "GET", "PUT", "DELETE", "POST")),
        Route(
            "/_cluster_setup", .serverAdmin, "GET,POST",
            ["GET": ClusterEndpoints.state, "POST": ClusterEndpoints.setUp]),
    ]

    private static let database: [Route] = [
        Route(
            "/{db}", .member, "DELETE,GET,HEAD,POST",
            [
                "GET": DatabaseEndpoints.info, "PUT": DatabaseEndpoints.create, "DELETE": DatabaseEndpoints.delete,
                "POST": DocumentEndpoints.post,
            ], stricter: ["PUT": .serverAdmin, "DELETE": .serverAdmin], scripts: .writing, body: .whole),
        Route("/{db}/_import", .databaseAdmin, "POST", ["POST": ImportEndpoints.importFile], body: .file),
        Route("/{db}/_blipsync", .member, "GET", ["GET": MobileEndpoints.connect], scripts: .writing),
        Route("/{db}/_ensure_full_commit", .member, "POST", ["POST": DatabaseEndpoints.ensureFullCommit]),
        Route("/{db}/_compact", .databaseAdmin, "POST", ["POST": DatabaseEndpoints.compact]),
        Route("/{db}/_info", .databaseAdmin, "GET,HEAD", ["GET": DatabaseEndpoints.details]),
        Route("/{db}/_compact/{ddoc}", .databaseAdmin, "POST", ["POST": DatabaseEndpoints.compactViews]),
        Route("/{db}/_temp_view", .member, "POST", everyMethod(ViewEndpoints.temporary), body: .whole),
        Route("/{db}/_view_cleanup", .databaseAdmin, "POST", ["POST": ViewEndpoints.cleanUp]),
        Route(
            "/{db}/_revs_limit", .member, "PUT,GET",
            ["GET": DatabaseEndpoints.revisionLimit, "PUT": DatabaseEndpoints.setRevisionLimit],
            stricter: ["PUT": .settings]),
        Route("/{db}/_purge", .serverAdmin, "POST", ["POST": PurgeEndpoints.purge], body: .whole),
        Route("/{db}/_purged_infos", .member, "GET", ["GET": PurgeEndpoints.infos]),
        Route(
            "/{db}/_purged_infos_limit", .serverAdmin, "GET,PUT",
            ["GET": PurgeEndpoints.limit, "PUT": PurgeEndpoints.setLimit]),
        Route(
            "/{db}/_security", .member, "PUT,GET",
            ["GET": SecurityEndpoints.read, "PUT": SecurityEndpoints.put], stricter: ["PUT": .settings], body: .whole),
        Route("/{db}/_access", .databaseAdmin, "POST", ["POST": AccessEndpoints.explain], body: .whole),
        Route(
            "/{db}/_bulk_docs", .member, "POST", ["POST": BulkEndpoints.bulkDocuments], scripts: .writing, body: .whole),
        Route("/{db}/_bulk_get", .member, "POST", ["POST": BulkEndpoints.bulkGet], body: .whole),
        Route(
            "/{db}/_local_changes", .member, "POST", ["POST": LocalChangesEndpoints.post], scripts: .writing,
            body: .whole),
        Route(
            "/{db}/_attribute_clocks", .member, "PUT,GET",
            ["GET": LocalChangesEndpoints.clocks, "PUT": LocalChangesEndpoints.setClocks],
            stricter: ["PUT": .settings], body: .whole),
        Route(
            "/{db}/_conflicts", .member, "GET,HEAD,POST",
            ["GET": ConflictEndpoints.list, "POST": ConflictEndpoints.listSome], body: .whole),
        Route("/{db}/_conflicts/{id...}", .member, "GET,HEAD", ["GET": ConflictEndpoints.read]),
        Route(
            "/{db}/_settle", .databaseAdmin, "POST", ["POST": SettleEndpoints.many], scripts: .writing, body: .whole),
        Route(
            "/{db}/_journal", .databaseAdmin, "GET,HEAD,PUT",
            ["GET": JournalEndpoints.read, "PUT": JournalEndpoints.set]),
        Route(
            "/{db}/_journal/_undo", .databaseAdmin, "POST", ["POST": JournalEndpoints.undo], scripts: .writing),
        Route("/{db}/_try", .member, "POST", ["POST": TryEndpoints.attempt], scripts: .always, body: .whole),
        Route("/{db}/_settle/{id...}", .member, "POST", ["POST": SettleEndpoints.one], scripts: .writing, body: .whole),
        Route("/{db}/_revs_diff", .member, "POST", ["POST": ReplicationEndpoints.revisionsDiff], body: .whole),
        Route("/{db}/_missing_revs", .member, "POST", ["POST": ReplicationEndpoints.missingRevisions], body: .whole),
        Route(
            "/{db}/_changes", .member, "GET,POST,HEAD",
            ["GET": ChangesEndpoints.changes, "POST": ChangesEndpoints.changes], scripts: .filtering, body: .whole),
    ]

    private static let queries: [Route] = [
        Route("/{db}/_find", .member, "POST", ["POST": FindEndpoints.find], body: .whole),
        Route("/{db}/_find/{what...}", .member, "POST", ["POST": FindEndpoints.find], body: .whole),
        Route("/{db}/_explain", .member, "POST", ["POST": FindEndpoints.explain], body: .whole),
        Route("/{db}/_explain/{what...}", .member, "POST", ["POST": FindEndpoints.explain], body: .whole),
        // An index is a design document; the right to write those is checked when it is written.
        Route(
            "/{db}/_index", .member, "GET,POST", ["GET": IndexEndpoints.list, "POST": IndexEndpoints.create],
            scripts: .writing, body: .whole),
        Route(
            "/{db}/_index/_bulk_delete", .member, "POST", ["POST": IndexEndpoints.deleteMany], scripts: .writing,
            body: .whole),
        Route(
            "/{db}/_index/_design/{ddoc}/{type}/{name}", .member, "DELETE", ["DELETE": IndexEndpoints.delete],
            scripts: .writing),
        Route(
            "/{db}/_index/{ddoc}/{type}/{name}", .member, "DELETE", ["DELETE": IndexEndpoints.delete],
            scripts: .writing),
        Route(
            "/{db}/_index/{what...}", .member, "DELETE,POST", everyMethod(IndexEndpoints.missing)),
        Route(
            "/{db}/_partition/{what...}", .member, "GET,POST",
            ["GET": DatabaseEndpoints.noPartitions, "POST": DatabaseEndpoints.noPartitions]),
    ]

    private static let listings: [Route] = [
        ("_all_docs", ListingNamespace.all), ("_design_docs", .design), ("_local_docs", .local),
    ].flatMap { name, namespace in
        [
            Route(
                "/{db}/\(name)", .member, "GET,HEAD,POST",
                ["GET": ListingEndpoints.list(namespace), "POST": ListingEndpoints.listSome(namespace)], body: .whole),
            Route(
                "/{db}/\(name)/queries", .member, "POST", ["POST": ListingEndpoints.queries(namespace)], body: .whole),
        ]
    }

    private static let design: [Route] = [
        Route(
            "/{db}/_design/{design}/_view/{view}/queries", .member, "POST", ["POST": ViewEndpoints.queries],
            scripts: .always, body: .whole),
        Route(
            "/{db}/_design/{design}/_view/{view}", .member, "GET,POST,HEAD",
            ["GET": ViewEndpoints.read, "POST": ViewEndpoints.readSome], scripts: .always, body: .whole),
        Route("/{db}/_design/{design}/_view", .member, "GET,POST,HEAD", everyMethod(ViewEndpoints.noView)),
        Route("/{db}/_design/{design}/_view/{what...}", .member, "GET,POST,HEAD", everyMethod(ViewEndpoints.noView)),
        Route(
            "/{db}/_design/{design}/_info", .member, "GET", ["GET": ViewEndpoints.info], scripts: .always),
        Route("/{db}/_design/{design}/_update", .member, "POST,PUT", everyMethod(UpdateEndpoints.noFunction)),
        Route(
            "/{db}/_design/{design}/_update/{what...}", .member, "POST,PUT",
            ["POST": UpdateEndpoints.update, "PUT": UpdateEndpoints.update], scripts: .always, body: .whole),
        Route(
            "/{db}/_design/{design}/_show/{what...}", .member, "GET,POST", notYet("a show function", "GET", "POST")),
        Route(
            "/{db}/_design/{design}/_list/{what...}", .member, "GET,POST", notYet("a list function", "GET", "POST")),
        Route(
            "/{db}/_design/{design}/_rewrite/{what...}", .member, "GET,POST", notYet("a rewrite", "GET", "POST", "PUT")),
    ]

    private static let documents: [Route] = [
        Route(
            "/{db}/_design/{design}", .member, document, documentMethods, stricter: designWrites,
            scripts: .writing, body: .streamed),
        Route(
            "/{db}/_design/{design}/{file...}", .member, attachment, attachmentMethods, stricter: designWrites,
            scripts: .writing, body: .streamed),
        Route("/{db}/_local", .member, document, everyMethod(DocumentEndpoints.noLocalID)),
        Route("/{db}/_local%2F", .member, document, everyMethod(DocumentEndpoints.noLocalID)),
        Route("/{db}/_local/{local}", .member, document, documentMethods, body: .streamed),
        Route("/{db}/_local/{local}/{file...}", .member, document, everyMethod(DocumentEndpoints.noLocalAttachments)),
        Route(
            "/{db}/{doc}", .member, document, documentMethods, scripts: .writing, body: .streamed),
        Route("/{db}/{doc}/{file...}", .member, attachment, attachmentMethods, scripts: .writing, body: .streamed),
    ]

    private static let designWrites: [String: Route.Access] = [
        "PUT": .settings, "POST": .settings, "DELETE": .settings,
    ]

    private static let document = "DELETE,GET,HEAD,POST,PUT,COPY"
    private static let documentMethods: [String: Endpoint] = [
        "GET": UserDocumentEndpoints.read, "PUT": DocumentEndpoints.put, "POST": DocumentEndpoints.postForm,
        "DELETE": DocumentEndpoints.delete, "COPY": DocumentEndpoints.copy,
    ]

    private static let attachment = "DELETE,GET,HEAD,PUT"
    private static let attachmentMethods: [String: Endpoint] = [
        "GET": AttachmentEndpoints.read, "PUT": AttachmentEndpoints.put, "DELETE": AttachmentEndpoints.delete,
    ]

    private static func everyMethod(_ endpoint: Endpoint) -> [String: Endpoint] {
        let methods = ["GET", "PUT", "POST", "DELETE", "COPY", "OPTIONS", "TRACE", "CONNECT", "PATCH"]
        return Dictionary(uniqueKeysWithValues: methods.map { ($0, endpoint) })
    }

    private static func notYet(_ what: String, _ methods: String...) -> [String: Endpoint] {
        Dictionary(uniqueKeysWithValues: methods.map { ($0, ServerEndpoints.notYet(what)) })
    }
}
