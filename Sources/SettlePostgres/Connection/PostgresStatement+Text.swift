// Length: the complete list of SQL texts in one place, which a test reads.

extension PostgresStatement {
    /// The SQL text of the statement.
    var text: String {
        switch self {
        case .document(let columns): "SELECT \(columns.list) FROM documents AS d WHERE d.database_id = $1 AND d.id = $2"
        case .shortDocument:
            """
            SELECT \(Columns.head.list), d.attachments, CASE WHEN octet_length(d.body) <= $3::bigint THEN d.body END, \
            b.database_id, b.last_sequence FROM names AS n JOIN databases AS b USING (database_id) \
            LEFT JOIN documents AS d ON d.database_id = b.database_id AND d.id = $2 WHERE n.name = $1
            """
        case .documents(let columns):
            """
            SELECT \(columns.list) FROM unnest($2::bytea[]) AS k(key) JOIN documents AS d ON d.database_id = $1 AND d.id = k.key
            """
        case .changes(let columns, let direction):
            """
            SELECT \(columns.list) FROM documents AS d WHERE d.database_id = $1 AND d.sequence > $2 AND d.sequence <= $3 \
            ORDER BY d.sequence \(direction.word) LIMIT $4
            """
        case .range(let columns, let kind, let direction):
            """
            SELECT \(columns.list) FROM documents AS d WHERE \(kind.condition) ORDER BY d.id \(direction.word) LIMIT $5
            """
        case .count(let kind): "SELECT count(*) FROM documents AS d WHERE \(kind.condition)"
        case .place(let direction):
            """
            SELECT d.id FROM documents AS d WHERE \(Kind.live.condition) ORDER BY d.id \(direction.word) OFFSET $5 LIMIT 1
            """
        case .contentTokens(let direction):
            "SELECT token FROM contents WHERE database_id = $1 AND token > $2 ORDER BY token \(direction.word) LIMIT $3"
        case .destroy(let table): "DELETE FROM \(table.rawValue) WHERE database_id = $1"
        default: constant
        }
    }
}

extension PostgresStatement.Columns {
    fileprivate var list: String {
        switch self {
        case .id: "d.id"
        case .head: "d.id, d.sequence, d.edition, d.tree"
        case .whole: "d.id, d.sequence, d.edition, d.tree, d.attachments, d.body"
        }
    }
}

extension PostgresStatement.Direction {
    fileprivate var word: String { self == .ascending ? "ASC" : "DESC" }
}

extension PostgresStatement.Kind {
    /// The condition for the documents of a range of ids, from `$2` to below `$3`. `$4` is the flag of
    /// ``Kind/flagged``. The other kinds don't use it, but have the same parameters.
    fileprivate var condition: String {
        let range = "d.database_id = $1 AND d.id >= $2 AND d.id < $3"
        return switch self {
        case .any: "\(range) AND $4::smallint IS NOT NULL"
        case .live: "\(range) AND d.flags <> $4::smallint"
        case .flagged: "\(range) AND d.flags = $4::smallint AND d.flags > 0"
        }
    }
}

extension PostgresStatement {
    private var constant: String {
        switch self {
        case .begin: "BEGIN"
        case .beginSnapshot: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        case .commit: "COMMIT"
        case .rollback: "ROLLBACK"
        case .savepoint: "SAVEPOINT part"
        case .releaseSavepoint: "RELEASE SAVEPOINT part"
        case .rollbackToSavepoint: "ROLLBACK TO SAVEPOINT part"
        case .setUp:
            """
            SELECT set_config('search_path', 'settle', false), set_config('standard_conforming_strings', 'on', false), \
            set_config('client_encoding', 'UTF8', false), set_config('bytea_output', 'hex', false), \
            set_config('statement_timeout', '30000', false), set_config('idle_in_transaction_session_timeout', '5000', false), \
            set_config('default_transaction_isolation', 'read committed', false), \
            set_config('default_transaction_read_only', 'off', false), \
            (SELECT max(set_config(name, 'off', false)) FROM pg_settings WHERE name IN ('enable_sort', 'jit'))
            """
        case .allowIdle: "SELECT set_config('idle_in_transaction_session_timeout', '30000', true)"
        case .allowLong: "SELECT set_config('statement_timeout', '600000', true)"
        case .format:
            "SELECT number, cluster, left(pg_walfile_name(pg_current_wal_lsn()), 8) AS timeline FROM settle.format"
        case .version: "SELECT number FROM settle.format"
        case .process: "SELECT pg_backend_pid()::bigint"
        // A commit that changes nothing, but waits for the disk and the standbys like any other.
        case .probe: "SELECT pg_logical_emit_message(true, 'settle', '')::text"
        case .rights:
            """
            SELECT (SELECT rolsuper OR rolcreaterole OR rolcreatedb FROM pg_roles WHERE rolname = current_user)::int, \
            has_schema_privilege('settle', 'CREATE')::int, has_table_privilege('settle.documents', 'INSERT')::int, \
            has_table_privilege('settle.documents', 'UPDATE')::int, has_table_privilege('settle.documents', 'DELETE')::int, \
            has_table_privilege('settle.documents', 'SELECT')::int, pg_is_in_recovery()::int
            """
        case .listen: "LISTEN settle_bell"
        case .notify: "SELECT pg_notify('settle_bell', $1)"

        case .state:
            """
            SELECT last_sequence, last_token, settings_age, design_age FROM databases WHERE database_id = $1 AND state < 2
            """
        case .lock:
            """
            SELECT last_sequence, last_token, settings_age, design_age, (SELECT number FROM settle.format) FROM databases \
            WHERE database_id = $1 AND state < 2 FOR UPDATE
            """
        case .advance:
            """
            UPDATE databases SET last_sequence = $2, last_token = $3, settings_age = $4, design_age = $5 WHERE database_id = $1
            """
        case .reserveTokens:
            """
            UPDATE databases SET last_token = last_token + $2 WHERE database_id = $1 AND state < 2 RETURNING last_token
            """
        case .mark:
            """
            INSERT INTO marks (database_id, node, number, at) VALUES ($1, $2, $3, clock_timestamp()) \
            ON CONFLICT (database_id, node) DO UPDATE SET number = EXCLUDED.number, at = EXCLUDED.at
            """
        case .findMark: "SELECT number FROM marks WHERE database_id = $1 AND node = $2"
        case .waitInLine: "UPDATE databases SET last_token = last_token WHERE database_id = $1"
        case .removeMarks: "DELETE FROM marks WHERE database_id = $1 AND at < clock_timestamp() - interval '1 day'"
        case .settings:
            """
            SELECT d.settings_age, r.key, r.value FROM databases AS d LEFT JOIN records AS r \
            ON r.database_id = d.database_id AND r.kind = 2 WHERE d.database_id = $1 AND d.state < 2
            """

        case .countAll:
            """
            SELECT coalesce(sum(plain), 0)::bigint, coalesce(sum(deleted), 0)::bigint, coalesce(sum(conflicted), 0)::bigint, \
            coalesce(sum(contested), 0)::bigint FROM tallies WHERE database_id = $1 AND level = 1
            """
        case .countChanges:
            """
            SELECT (SELECT coalesce(sum(plain + deleted + conflicted + contested), 0)::bigint FROM tallies \
            WHERE database_id = $1 AND level = 1 AND bucket < $2::bigint >> 20) \
            + (SELECT coalesce(sum(plain + deleted + conflicted + contested), 0)::bigint FROM tallies \
            WHERE database_id = $1 AND level = 0 AND bucket >= ($2::bigint >> 20) << 10 AND bucket < $2::bigint >> 10) \
            + (SELECT count(*) FROM documents WHERE database_id = $1 AND sequence >= ($2::bigint >> 10) << 10 AND sequence <= $2::bigint)
            """
        case .editions:
            """
            SELECT d.id, d.sequence, d.edition, d.flags FROM unnest($2::bytea[]) AS k(key) \
            JOIN documents AS d ON d.database_id = $1 AND d.id = k.key
            """
        case .putDocuments:
            """
            INSERT INTO documents (database_id, id, sequence, edition, flags, tree, attachments, body) \
            SELECT $1::bigint, e.id, e.sequence, 0, e.flags, e.tree, e.attachments, e.body FROM unnest($2::bytea[], $3::bigint[], \
            $4::smallint[], $5::bytea[], $6::bytea[], $7::bytea[]) AS e(id, sequence, flags, tree, attachments, body) \
            ON CONFLICT (database_id, id) DO UPDATE SET sequence = EXCLUDED.sequence, edition = 0, flags = EXCLUDED.flags, \
            tree = EXCLUDED.tree, attachments = EXCLUDED.attachments, body = EXCLUDED.body
            """
        case .putTrees:
            """
            UPDATE documents AS d SET edition = e.edition, flags = e.flags, tree = e.tree \
            FROM unnest($2::bytea[], $3::bigint[], $4::smallint[], $5::bytea[]) AS e(id, edition, flags, tree) \
            WHERE d.database_id = $1 AND d.id = e.id
            """
        case .removeDocuments: "DELETE FROM documents WHERE database_id = $1 AND id = ANY($2::bytea[])"
        case .putCounts:
            """
            INSERT INTO tallies AS t (database_id, level, bucket, plain, deleted, conflicted, contested) \
            SELECT $1::bigint, e.level, e.bucket, e.plain, e.deleted, e.conflicted, e.contested FROM unnest($2::smallint[], \
            $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[]) \
            AS e(level, bucket, plain, deleted, conflicted, contested) ORDER BY e.level, e.bucket \
            ON CONFLICT (database_id, level, bucket) DO UPDATE SET plain = t.plain + EXCLUDED.plain, \
            deleted = t.deleted + EXCLUDED.deleted, conflicted = t.conflicted + EXCLUDED.conflicted, \
            contested = t.contested + EXCLUDED.contested
            """

        case .contents:
            "SELECT token, attachments, body FROM contents WHERE database_id = $1 AND token = ANY($2::bigint[])"
        case .putContents:
            """
            INSERT INTO contents (database_id, token, attachments, body) SELECT $1::bigint, e.token, e.attachments, e.body \
            FROM unnest($2::bigint[], $3::bytea[], $4::bytea[]) AS e(token, attachments, body)
            """
        case .removeContents: "DELETE FROM contents WHERE database_id = $1 AND token = ANY($2::bigint[])"

        case .records:
            "SELECT key, number, value FROM records WHERE database_id = $1 AND kind = $2 AND key = ANY($3::bytea[])"
        case .recordsAfter:
            """
            SELECT key, number, value FROM records WHERE database_id = $1 AND kind = $2 AND key > $3 ORDER BY key LIMIT $4
            """
        case .recordsThrough:
            """
            SELECT key, number, value FROM records WHERE database_id = $1 AND kind = 3 AND number <= $2 \
            ORDER BY number, key LIMIT $3
            """
        case .putRecords:
            """
            INSERT INTO records (database_id, kind, key, number, value) SELECT $1::bigint, e.kind, e.key, e.number, e.value \
            FROM unnest($2::smallint[], $3::bytea[], $4::bigint[], $5::bytea[]) AS e(kind, key, number, value) \
            ON CONFLICT (database_id, kind, key) DO UPDATE SET number = EXCLUDED.number, value = EXCLUDED.value
            """
        case .removeRecords:
            """
            DELETE FROM records AS r USING unnest($2::smallint[], $3::bytea[]) AS e(kind, key) \
            WHERE r.database_id = $1 AND r.kind = e.kind AND r.key = e.key
            """

        case .blobs:
            """
            SELECT digest, md5, length, upload, content FROM blobs WHERE database_id = $1 AND digest = ANY($2::bytea[])
            """
        case .blobsAfter:
            """
            SELECT digest, md5, length, upload FROM blobs WHERE database_id = $1 AND digest > $2 ORDER BY digest LIMIT $3
            """
        case .blobsThere: "SELECT digest FROM blobs WHERE database_id = $1 AND digest = ANY($2::bytea[])"
        case .putBlobs:
            """
            INSERT INTO blobs (database_id, digest, md5, length, upload, content) \
            SELECT $1::bigint, e.digest, e.md5, e.length, e.upload, e.content \
            FROM unnest($2::bytea[], $3::bytea[], $4::bigint[], $5::bytea[], $6::bytea[]) \
            AS e(digest, md5, length, upload, content) ON CONFLICT (database_id, digest) DO NOTHING
            """
        case .removeBlobs:
            """
            WITH gone AS (DELETE FROM blobs WHERE database_id = $1 AND digest = ANY($2::bytea[]) RETURNING upload) \
            INSERT INTO uploads (database_id, upload, until) \
            SELECT $1::bigint, gone.upload, clock_timestamp() + interval '5 minutes' FROM gone WHERE gone.upload IS NOT NULL ON CONFLICT (database_id, upload) DO UPDATE SET until = EXCLUDED.until
            """
        case .claimUploads:
            """
            DELETE FROM uploads AS u USING unnest($2::bytea[], $3::bytea[]) AS e(digest, upload), blobs AS b \
            WHERE u.database_id = $1 AND u.upload = e.upload AND b.database_id = $1 AND b.digest = e.digest \
            AND b.upload = e.upload
            """
        case .newUpload:
            """
            INSERT INTO uploads (database_id, upload, until) \
            SELECT $1::bigint, $2::bytea, clock_timestamp() + interval '10 minutes' FROM databases WHERE database_id = $1 AND state < 2
            """
        case .prolongUploads:
            """
            UPDATE uploads SET until = clock_timestamp() + interval '10 minutes' WHERE database_id = $1 \
            AND upload = ANY($2::bytea[])
            """
        case .endUploads:
            "UPDATE uploads SET until = clock_timestamp() WHERE database_id = $1 AND upload = ANY($2::bytea[])"
        case .blobBytes:
            "SELECT coalesce(sum(length), 0)::bigint FROM blobs WHERE database_id = $1 AND upload IS NOT NULL"
        case .putChunk:
            """
            INSERT INTO chunks (database_id, upload, number, bytes) SELECT $1::bigint, $2::bytea, $3::bigint, $4::bytea \
            WHERE EXISTS (SELECT 1 FROM uploads WHERE database_id = $1 AND upload = $2)
            """
        case .chunk: "SELECT bytes FROM chunks WHERE database_id = $1 AND upload = $2 AND number = $3"
        case .uploadsThere:
            """
            SELECT u.upload FROM unnest($2::bytea[]) AS k(upload) CROSS JOIN LATERAL (SELECT upload FROM uploads \
            WHERE database_id = $1 AND upload = k.upload FOR UPDATE) AS u
            """
        case .dropUploads: "DELETE FROM uploads WHERE database_id = $1 AND upload = ANY($2::bytea[])"
        case .dropChunks: "DELETE FROM chunks WHERE database_id = $1 AND upload = ANY($2::bytea[])"
        case .oldUploads:
            """
            SELECT upload FROM uploads WHERE database_id = $1 AND until < clock_timestamp() ORDER BY upload LIMIT 16 FOR UPDATE
            """

        case .takeLeases:
            """
            INSERT INTO leases AS l (database_id, job, node, term, until) \
            SELECT $1::bigint, e.job, $3::text, 1, clock_timestamp() + interval '15 s' FROM (SELECT j.job FROM unnest($2::bytea[]) \
            WITH ORDINALITY AS j(job, place) LEFT JOIN leases AS o ON o.database_id = $1 AND o.job = j.job \
            WHERE o.job IS NULL OR o.until < clock_timestamp() ORDER BY j.place LIMIT $4) AS e \
            ON CONFLICT (database_id, job) DO UPDATE SET node = EXCLUDED.node, term = l.term + 1, until = EXCLUDED.until, \
            status = NULL WHERE l.until < clock_timestamp() RETURNING l.job, l.term
            """
        case .renewLeases:
            """
            UPDATE leases AS l SET until = clock_timestamp() + interval '15 s', status = coalesce(e.status, l.status) \
            FROM unnest($2::bytea[], $3::bigint[], $4::bytea[]) AS e(job, term, status) WHERE l.database_id = $1 \
            AND l.job = e.job AND l.term = e.term AND l.node = $5 AND l.until >= clock_timestamp() RETURNING l.job, l.term
            """
        case .releaseLeases:
            """
            UPDATE leases AS l SET until = clock_timestamp() - interval '1 hour', status = NULL \
            FROM unnest($2::bytea[], $3::bigint[]) AS e(job, term) \
            WHERE l.database_id = $1 AND l.job = e.job AND l.term = e.term AND l.node = $4
            """
        case .forgetLeases: "DELETE FROM leases WHERE database_id = $1 AND until < clock_timestamp() - interval '1 day'"
        case .leases:
            """
            SELECT job, node, status FROM leases WHERE database_id = $1 AND until >= clock_timestamp() ORDER BY job
            """
        case .requireLease:
            """
            SELECT 1 FROM leases WHERE database_id = $1 AND job = $2 AND node = $3 AND term = $4 \
            AND until >= clock_timestamp() FOR UPDATE
            """

        case .find:
            """
            SELECT n.name, d.database_id, d.last_sequence, d.settings_age, d.design_age FROM names AS n \
            JOIN databases AS d USING (database_id) WHERE n.name = $1 AND d.state = 0
            """
        case .follow:
            """
            SELECT database_id, last_sequence, settings_age, design_age FROM databases \
            WHERE database_id = ANY($1::bigint[]) AND state < 2
            """
        case .names: "SELECT name FROM names ORDER BY name"
        case .create: "INSERT INTO databases (database_id, name, state) VALUES ($1, $2, 0)"
        case .name:
            "INSERT INTO names (name, database_id) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING RETURNING database_id"
        case .deleteName: "DELETE FROM names WHERE name = $1 RETURNING database_id"
        case .doom: "UPDATE databases SET state = 2 WHERE database_id = $1"
        case .doomed: "SELECT database_id FROM databases WHERE state = 2 ORDER BY database_id LIMIT 1"
        case .destroyDocuments:
            """
            DELETE FROM documents WHERE database_id = $1 AND id IN \
            (SELECT id FROM documents WHERE database_id = $1 LIMIT 2000)
            """
        case .destroyContents:
            """
            DELETE FROM contents WHERE database_id = $1 AND token IN \
            (SELECT token FROM contents WHERE database_id = $1 LIMIT 2000)
            """
        case .destroyChunks:
            """
            DELETE FROM chunks WHERE database_id = $1 AND upload IN \
            (SELECT upload FROM chunks WHERE database_id = $1 LIMIT 16)
            """
        case .startCopy: "INSERT INTO databases (database_id, name, state) VALUES ($1, $2, 1)"
        case .findCopy: "SELECT database_id FROM databases WHERE name = $1 AND state = 1 ORDER BY database_id LIMIT 1"
        case .endCopy: "UPDATE databases SET state = 0 WHERE database_id = $1 AND state = 1"

        case .serverRecord: "SELECT value, version FROM server WHERE name = $1"
        case .makeServerRecord:
            "INSERT INTO server (name, value, version) VALUES ($1, $2, 1) ON CONFLICT (name) DO NOTHING RETURNING version"
        case .putServerRecord:
            """
            UPDATE server SET value = $2, version = version + 1 WHERE name = $1 AND version = $3 RETURNING version
            """
        case .serverVersion: "SELECT version FROM server WHERE name = $1"

        case .whereabouts:
            """
            SELECT system_identifier::text || '/' || 'settle.documents'::regclass::oid::text FROM pg_control_system()
            """
        case .renewInstances:
            """
            UPDATE records SET value = convert_to(substr(md5(random()::text || clock_timestamp()::text || database_id::text), \
            1, 16), 'UTF8') WHERE kind = 2 AND key = 'instance'::bytea
            """
        case .renewAges: "UPDATE databases SET settings_age = settings_age + 1"

        case .weigh:
            """
            SELECT (SELECT coalesce(sum(octet_length(body)), 0)::bigint FROM documents WHERE database_id = $1), \
            (SELECT coalesce(sum(octet_length(body) + coalesce(octet_length(attachments), 0)), 0)::bigint FROM contents \
            WHERE database_id = $1), (SELECT coalesce(sum(length), 0)::bigint FROM blobs WHERE database_id = $1), \
            (SELECT coalesce(sum(length), 0)::bigint FROM blobs WHERE database_id = $1 AND upload IS NOT NULL)
            """
        case .size:
            """
            SELECT coalesce(avg(pg_column_size(d.body) + pg_column_size(d.tree) + octet_length(d.id) + 60), 0)::bigint \
            FROM (SELECT body, tree, id FROM documents WHERE database_id = $1 ORDER BY id LIMIT 100) AS d
            """
        case .wrongCounts:
            """
            SELECT count(*) FROM (SELECT sequence >> 10 AS bucket, count(*) FILTER (WHERE flags = 0) AS plain, \
            count(*) FILTER (WHERE flags = 1) AS deleted, count(*) FILTER (WHERE flags = 2) AS conflicted, \
            count(*) FILTER (WHERE flags = 3) AS contested FROM documents WHERE database_id = $1 GROUP BY 1) AS d \
            FULL JOIN (SELECT * FROM tallies WHERE database_id = $1 AND level = 0) AS t USING (bucket) \
            WHERE coalesce(d.plain, 0) <> coalesce(t.plain, 0) OR coalesce(d.deleted, 0) <> coalesce(t.deleted, 0) \
            OR coalesce(d.conflicted, 0) <> coalesce(t.conflicted, 0) OR coalesce(d.contested, 0) <> coalesce(t.contested, 0)
            """
        case .sumsAtOdds:
            """
            SELECT count(*) FROM (SELECT bucket >> 10 AS bucket, sum(plain) AS plain, sum(deleted) AS deleted, \
            sum(conflicted) AS conflicted, sum(contested) AS contested FROM tallies WHERE database_id = $1 AND level = 0 \
            GROUP BY 1) AS d FULL JOIN (SELECT * FROM tallies WHERE database_id = $1 AND level = 1) AS t USING (bucket) \
            WHERE coalesce(d.plain, 0) <> coalesce(t.plain, 0) OR coalesce(d.deleted, 0) <> coalesce(t.deleted, 0) \
            OR coalesce(d.conflicted, 0) <> coalesce(t.conflicted, 0) OR coalesce(d.contested, 0) <> coalesce(t.contested, 0)
            """
        case .wrongFlags:
            """
            SELECT (SELECT count(*) FROM documents WHERE database_id = $1 AND flags NOT IN (0, 1, 2, 3)) \
            + (SELECT count(*) FROM documents AS d JOIN databases AS b USING (database_id) WHERE d.database_id = $1 \
            AND d.sequence > b.last_sequence) + (SELECT count(*) FROM blobs WHERE database_id = $1 AND octet_length(digest) <> 32)
            """
        default: ""
        }
    }
}
