import Settle

/// A form of requests that the server knows: a path with placeholders, its methods, its query parameters, and the kind of its
/// body.
struct RequestForm {
    enum Body {
        case none, document, documents, bulkGet, revisions, keys, queries, changes, security, access, number, boolean,
            localChanges, settling, trial, user, form, parts, find, index, indexNames,
            bytes
    }

    let path: String
    let methods: [String]
    var query: [String] = []
    var body = Body.none

    private static let reading = [
        "rev={rev}", "revs=true", "revs_info=true", "conflicts=true", "deleted_conflicts=true", "local_seq=true",
        "latest=true",
        "meta=true", "attachments=true", "att_encoding_info=true", "open_revs=all", "open_revs=[%22{rev}%22]",
        "atts_since=[%22{rev}%22]", "deleted=true", "open_revs=[]", "rev=",
    ]
    private static let writing = [
        "rev={rev}", "new_edits=false", "batch=ok", "new_edits=true", "conflicts=branch", "conflicts=refuse",
    ]
    private static let listing = [
        "limit={n}", "skip={n}", "descending=true", "include_docs=true", "conflicts=true", "attachments=true",
        "inclusive_end=false", "update_seq=true", "startkey=%22{doc}%22", "endkey=%22{doc}%22", "key=%22{doc}%22",
        "key=1",
        "keys=[%22{doc}%22]", "keys=[%22a%22,%22b%22,3]", "startkey={}", "endkey=null", "start_key=%22b%22",
        "reduce=true",
        "stale=ok", "limit=x", "sorted=false", "group_level=1",
    ]
    private static let changes = [
        "limit={n}", "since={n}", "since=now", "since=0", "descending=true", "style=all_docs", "include_docs=true",
        "timeout=1",
        "timeout=3", "feed=normal", "feed=longpoll", "feed=continuous", "feed=eventsource", "heartbeat=1",
        "heartbeat=true",
        "attachments=true", "conflicts=true", "att_encoding_info=true", "seq_interval=2", "filter=_design",
        "filter=_doc_ids",
        "filter=_selector", "filter=d/f", "filter=_view", "view=d/v", "doc_ids=[%22a%22]", "last-event-id={n}",
        "style=x",
    ]

    static let all: [RequestForm] = [
        RequestForm(path: "/", methods: ["GET", "HEAD"]),
        RequestForm(path: "/_up", methods: ["GET"]),
        RequestForm(path: "/_uuids", methods: ["GET"], query: ["count={n}", "count=-1"]),
        RequestForm(path: "/_all_dbs", methods: ["GET"], query: listing),
        RequestForm(path: "/_dbs_info", methods: ["GET", "POST"], query: listing, body: .keys),
        RequestForm(path: "/_active_tasks", methods: ["GET"]),
        RequestForm(
            path: "/_session", methods: ["GET", "POST", "DELETE"], query: ["next=/x", "fail=/y", "basic=true"],
            body: .form),
        RequestForm(path: "/_replicate", methods: ["POST"], body: .document),
        RequestForm(path: "/_scheduler/jobs", methods: ["GET"], query: ["limit={n}", "skip={n}"]),
        RequestForm(path: "/_scheduler/jobs/x", methods: ["GET"]),
        RequestForm(path: "/_scheduler/ledger/x", methods: ["GET"], query: ["limit={n}", "skip={n}"]),
        RequestForm(path: "/_scheduler/docs", methods: ["GET"], query: ["limit={n}", "states=running,failed"]),
        RequestForm(path: "/_scheduler/docs/_replicator", methods: ["GET"]),
        RequestForm(path: "/_scheduler/nodes", methods: ["GET"]),
        RequestForm(path: "/_node/_local/_config", methods: ["GET"]),
        RequestForm(path: "/_node/_local/_config/couchdb", methods: ["GET"]),
        RequestForm(
            path: "/_node/_local/_config/couchdb/users_db_security_editable", methods: ["GET", "PUT", "DELETE"],
            body: .number),
        RequestForm(
            path: "/_node/_local/_config/admins/x", methods: ["GET", "PUT", "DELETE"], body: .number),
        RequestForm(path: "/_node/_local/_log", methods: ["GET"], query: ["limit={n}", "limit=x"]),
        RequestForm(path: "/_node/_local/_prometheus", methods: ["GET"]),
        RequestForm(path: "/_node/_local/_stats", methods: ["GET"]),
        RequestForm(path: "/_node/_local/_stats/couchdb/httpd", methods: ["GET"]),
        RequestForm(path: "/_node/_local/_settings", methods: ["GET"]),
        RequestForm(path: "/_node/_local/_system", methods: ["GET"]),
        RequestForm(path: "/_node/_local", methods: ["GET"]),
        RequestForm(path: "/_node/_local/_versions", methods: ["GET"]),
        RequestForm(path: "/_membership", methods: ["GET"]),
        RequestForm(
            path: "/_db_updates", methods: ["GET"], query: ["limit={n}", "since={n}", "since=now", "descending=true"]),
        RequestForm(path: "/_cluster_setup", methods: ["GET", "POST"], body: .document),
        RequestForm(
            path: "/{db}", methods: ["GET", "GET", "POST", "POST", "PUT", "HEAD", "DELETE"],
            query: writing + ["q=1", "rev=1"], body: .document),
        RequestForm(path: "/{db}/_ensure_full_commit", methods: ["POST"]),
        RequestForm(path: "/{db}/_compact", methods: ["POST"]),
        RequestForm(path: "/{db}/_info", methods: ["GET"]),
        RequestForm(path: "/{db}/_compact/d", methods: ["POST"]),
        RequestForm(path: "/{db}/_view_cleanup", methods: ["POST"]),
        RequestForm(path: "/{db}/_revs_limit", methods: ["GET", "PUT"], body: .number),
        RequestForm(path: "/{db}/_purge", methods: ["POST"], body: .revisions),
        RequestForm(path: "/{db}/_purged_infos", methods: ["GET"]),
        RequestForm(path: "/{db}/_purged_infos_limit", methods: ["GET", "PUT"], body: .number),
        RequestForm(path: "/{db}/_security", methods: ["GET", "PUT"], body: .security),
        RequestForm(path: "/{db}/_bulk_docs", methods: ["POST"], body: .documents),
        RequestForm(path: "/{db}/_bulk_docs", methods: ["POST"], body: .documents),
        RequestForm(path: "/{db}/_access", methods: ["POST"], body: .access),
        RequestForm(path: "/{db}/_bulk_get", methods: ["POST"], query: reading, body: .bulkGet),
        RequestForm(path: "/{db}/_revs_diff", methods: ["POST"], body: .revisions),
        RequestForm(path: "/{db}/_attribute_clocks", methods: ["GET", "PUT"], body: .boolean),
        RequestForm(path: "/{db}/_local_changes", methods: ["POST"], body: .localChanges),
        RequestForm(
            path: "/{db}/_conflicts", methods: ["GET", "POST"],
            query: [
                "kind=all", "kind=deletions", "kind=x", "limit={n}", "startkey=%22{doc}%22", "endkey=1", "differs=true",
                "values=false",
            ],
            body: .keys),
        RequestForm(
            path: "/{db}/_conflicts/{doc}", methods: ["GET"],
            query: ["tree=full", "tree=none", "tree=x", "docs=false", "policies=true", "policies=x"]),
        RequestForm(path: "/{db}/_settle", methods: ["POST"], body: .settling),
        RequestForm(path: "/{db}/_settle/{doc}", methods: ["POST"], body: .settling),
        RequestForm(
            path: "/{db}/_import", methods: ["POST"],
            query: [
                "dry_run=true", "from=json", "from=x", "id=a", "on_conflict=skip", "collection=a.b", "name=a.csv",
                "encoding=windows-1252", "encoding=utf-16", "encoding=x",
            ],
            body: .bytes),
        RequestForm(path: "/{db}/_blipsync", methods: ["GET"]),
        RequestForm(path: "/{db}/_try", methods: ["POST"], body: .trial),
        RequestForm(
            path: "/{db}/_journal", methods: ["GET", "PUT"], query: ["limit={n}", "after={n}", "id={doc}"],
            body: .boolean),
        RequestForm(path: "/{db}/_journal/_undo", methods: ["POST"], body: .trial),
        RequestForm(path: "/_condition", methods: ["POST"], body: .trial),
        RequestForm(path: "/_policies", methods: ["GET"]),
        RequestForm(path: "/_utils", methods: ["GET", "HEAD"]),
        RequestForm(path: "/_utils/a/{doc}/{file}", methods: ["GET"]),
        RequestForm(path: "/{db}/_missing_revs", methods: ["POST"], body: .revisions),
        RequestForm(path: "/{db}/_changes", methods: ["GET", "POST", "HEAD"], query: changes, body: .changes),
        RequestForm(path: "/{db}/_changes", methods: ["GET", "POST"], query: changes, body: .changes),
        RequestForm(path: "/{db}/_find", methods: ["POST"], body: .find),
        RequestForm(path: "/{db}/_find", methods: ["POST"], body: .find),
        RequestForm(path: "/{db}/_find/x", methods: ["POST"], body: .find),
        RequestForm(path: "/{db}/_explain", methods: ["POST"], body: .find),
        RequestForm(path: "/{db}/_explain/x", methods: ["POST"], body: .changes),
        RequestForm(
            path: "/{db}/_index", methods: ["GET", "POST", "POST"], query: ["limit={n}", "skip={n}", "status=true"],
            body: .index),
        RequestForm(path: "/{db}/_index/_bulk_delete", methods: ["POST"], body: .indexNames),
        RequestForm(path: "/{db}/_index/a/json/b", methods: ["DELETE"]),
        RequestForm(path: "/{db}/_index/_design/a/json/b", methods: ["DELETE"]),
        RequestForm(path: "/{db}/_index/a", methods: ["GET", "DELETE"]),
        RequestForm(path: "/{db}/_temp_view", methods: ["POST"], body: .document),
        RequestForm(path: "/{db}/_partition/x/_find", methods: ["GET", "POST"], body: .find),
        RequestForm(path: "/{db}/_all_docs", methods: ["GET", "POST", "HEAD"], query: listing, body: .keys),
        RequestForm(path: "/{db}/_design_docs", methods: ["GET", "POST"], query: listing, body: .keys),
        RequestForm(path: "/{db}/_local_docs", methods: ["GET", "POST"], query: listing, body: .keys),
        RequestForm(path: "/{db}/_all_docs/queries", methods: ["POST"], query: listing, body: .queries),
        RequestForm(path: "/{db}/_design_docs/queries", methods: ["POST"], body: .queries),
        RequestForm(path: "/{db}/_local_docs/queries", methods: ["POST"], body: .queries),
        RequestForm(path: "/{db}/_design/d/_view/v", methods: ["GET", "POST"], query: listing, body: .keys),
        RequestForm(path: "/{db}/_design/d/_view/v/queries", methods: ["POST"], body: .queries),
        RequestForm(path: "/{db}/_design/d/_view", methods: ["GET", "POST"]),
        RequestForm(path: "/{db}/_design/d/_view/v/x", methods: ["GET"]),
        RequestForm(path: "/{db}/_design/d/_info", methods: ["GET"]),
        RequestForm(path: "/{db}/_design/d/_update", methods: ["POST"]),
        RequestForm(path: "/{db}/_design/d/_update/u", methods: ["POST"]),
        RequestForm(path: "/{db}/_design/d/_show/s", methods: ["GET"]),
        RequestForm(path: "/{db}/_design/d/_list/l/v", methods: ["GET"]),
        RequestForm(path: "/{db}/_design/d/_rewrite/r", methods: ["GET"]),
        RequestForm(
            path: "/{db}/_design/{doc}", methods: ["GET", "PUT", "DELETE", "COPY"], query: reading + writing,
            body: .document),
        RequestForm(
            path: "/{db}/_design/{doc}/{file}", methods: ["GET", "PUT", "DELETE"], query: ["rev={rev}"], body: .bytes),
        RequestForm(path: "/{db}/_local%2F", methods: ["GET", "PUT"], body: .document),
        RequestForm(path: "/{db}/_local", methods: ["GET", "PUT"], body: .document),
        RequestForm(
            path: "/{db}/_local/{doc}", methods: ["GET", "PUT", "DELETE", "COPY"], query: reading + writing,
            body: .document),
        RequestForm(path: "/{db}/_local/{doc}/{file}", methods: ["GET", "PUT"], body: .bytes),
        RequestForm(path: "/{db}/{doc}", methods: ["GET", "HEAD"], query: reading),
        RequestForm(path: "/{db}/{doc}", methods: ["GET"], query: reading),
        RequestForm(path: "/{db}/{doc}", methods: ["PUT"], body: .document),
        RequestForm(path: "/{db}/{doc}", methods: ["PUT"], body: .document),
        RequestForm(path: "/{db}/{doc}", methods: ["PUT"], body: .document),
        RequestForm(path: "/{db}/{doc}", methods: ["PUT"], query: writing, body: .document),
        RequestForm(path: "/{db}/{doc}", methods: ["PUT"], query: writing, body: .document),
        RequestForm(path: "/{db}/{doc}", methods: ["PUT"], query: writing, body: .parts),
        RequestForm(path: "/{db}/{doc}", methods: ["DELETE", "COPY", "POST"], query: ["rev={rev}"]),
        RequestForm(path: "/{db}/{doc}/{file}", methods: ["GET", "HEAD", "DELETE"], query: ["rev={rev}"]),
        RequestForm(path: "/{db}/{doc}/{file}", methods: ["PUT"], query: ["rev={rev}"], body: .bytes),
        RequestForm(path: "/_users/{doc}", methods: ["GET", "PUT"], query: ["rev={rev}"], body: .user),
    ]
}
