-- What the tables must be at every moment. Each statement gives a row for each violation: its kind, and what is wrong.
-- Run by checks.py in one snapshot; by hand: psql … -f checks.sql

-- The rows of the tallies are the counts of documents by their sequences and flags.
WITH counted AS (
  SELECT database_id, level, bucket, count(*) FILTER (WHERE flags = 0) AS plain, count(*) FILTER (WHERE flags = 1) AS deleted,
      count(*) FILTER (WHERE flags = 2) AS conflicted, count(*) FILTER (WHERE flags = 3) AS contested
    FROM (SELECT database_id, flags, 0::smallint AS level, sequence >> 10 AS bucket FROM settle.documents
      UNION ALL SELECT database_id, flags, 1::smallint, sequence >> 20 FROM settle.documents) d GROUP BY 1, 2, 3)
SELECT 'tallies differ from counts', concat_ws(' ', database_id, 'level', level, 'bucket', bucket, 'tallied', t.plain, t.deleted,
    t.conflicted, t.contested, 'counted', c.plain, c.deleted, c.conflicted, c.contested)
  FROM counted c FULL JOIN settle.tallies t USING (database_id, level, bucket)
  WHERE (coalesce(t.plain, 0), coalesce(t.deleted, 0), coalesce(t.conflicted, 0), coalesce(t.contested, 0))
    <> (coalesce(c.plain, 0), coalesce(c.deleted, 0), coalesce(c.conflicted, 0), coalesce(c.contested, 0));

-- No document has a sequence that its database has not given out.
SELECT 'a sequence beyond the last', concat_ws(' ', database_id, encode(id, 'escape'), sequence, last_sequence)
  FROM settle.documents JOIN settle.databases USING (database_id) WHERE sequence > last_sequence OR sequence < 1;

SELECT 'a token beyond the last', concat_ws(' ', database_id, token, last_token)
  FROM settle.contents JOIN settle.databases USING (database_id) WHERE token > last_token;

SELECT 'unknown flags', concat_ws(' ', database_id, encode(id, 'escape'), flags) FROM settle.documents WHERE flags NOT BETWEEN 0 AND 3;

-- Nothing belongs to no database; one that is being deleted keeps its row until the last step.
WITH owned AS (
  SELECT 'documents' AS what, database_id FROM settle.documents UNION SELECT 'contents', database_id FROM settle.contents
  UNION SELECT 'tallies', database_id FROM settle.tallies UNION SELECT 'blobs', database_id FROM settle.blobs
  UNION SELECT 'chunks', database_id FROM settle.chunks UNION SELECT 'records', database_id FROM settle.records
  UNION SELECT 'uploads', database_id FROM settle.uploads UNION SELECT 'names', database_id FROM settle.names)
SELECT 'rows of no database', concat_ws(' ', what, database_id)
  FROM owned LEFT JOIN settle.databases d USING (database_id) WHERE d.database_id IS NULL;

-- Every attachment that a document or a content names is there. Their lists come after a version and a checksum of 8 bytes, unless they
-- are from before version 2 of the schema.
WITH named AS (
  SELECT database_id, decode(a ->> 7, 'hex') AS digest
    FROM (SELECT database_id, attachments FROM settle.documents UNION ALL SELECT database_id, attachments FROM settle.contents) s,
      nullif(CASE WHEN substring(attachments FROM 1 FOR 1) = '\x02' THEN substring(attachments FROM 10) ELSE attachments END, '') list,
      jsonb_array_elements(convert_from(list, 'UTF8')::jsonb) a)
SELECT DISTINCT 'an attachment without its bytes', concat_ws(' ', database_id, encode(digest, 'hex'))
  FROM named LEFT JOIN settle.blobs b USING (database_id, digest) WHERE b.digest IS NULL;

-- And whole: in its row, or in chunks without a gap.
SELECT 'an attachment that is not whole', concat_ws(' ', b.database_id, encode(b.digest, 'hex'), b.length, s.bytes, s.chunks, s.last)
  FROM settle.blobs b LEFT JOIN LATERAL (
    SELECT sum(length(bytes)) AS bytes, count(*) AS chunks, max(number) - min(number) + 1 AS last
      FROM settle.chunks c WHERE c.database_id = b.database_id AND c.upload = b.upload) s ON b.content IS NULL
  WHERE coalesce(length(b.content), s.bytes, 0) <> b.length OR s.chunks <> s.last;
