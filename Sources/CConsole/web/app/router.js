/** The page's state in its address, behind `#`, so that ids of documents reach no log. */

const DATABASE_PAGES = new Set(['docs', 'doc', 'compare', 'conflicts', 'conflict', 'settle', 'changes', 'query', 'design', 'view', 'rights', 'upkeep', 'files', 'journal']);
const SERVER_PAGES = new Set(['login', 'users', 'server', 'activity', 'log', 'replications', 'replication', 'replicate', 'play']);
const OLD = { activetasks: 'activity', _config: 'server', replication: 'replications' };

const written = (parts, query) => {
  const items = Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const text = new URLSearchParams(items).toString();
  return `#/${parts.filter(part => part !== undefined && part !== '').map(part => encodeURIComponent(part)).join('/')}${text ? `?${text}` : ''}`;
};

/** A link to a page of a database: its name, the page, and an id. The parts are encoded, and a query may follow. */
export function link(parts, query) { return written(['db', ...parts], query); }

/** A link to a page of the server, such as `replication`, which may have an id. */
export function serverLink(page, id, query) { return written([page === 'databases' ? '' : page, id], query); }

/**
 * What an address behind `#` means: page, db, id, query. A database has its name behind `db`, so that it may be called as a page
 * is. Links of Fauxton, and older ones with the database's name in front, are understood, too.
 */
export function read(hash) {
  const [where, text = ''] = hash.replace(/^#?\/?/, '').split(/\?(.*)/s);
  const parts = where.split('/').filter(Boolean).map(decode);
  const query = Object.fromEntries(new URLSearchParams(text));
  if (parts[0] === 'db' && parts.length > 1) return database(parts.slice(1), query);
  if (parts[0] === 'database' && parts.length > 1) return fauxton(parts.slice(1), query);
  if (parts.length === 0 || parts[0] === '_all_dbs') return { page: 'databases', query };
  if (parts.length === 1 && OLD[parts[0]]) return { page: OLD[parts[0]], query };
  if (parts.length <= 2 && SERVER_PAGES.has(parts[0])) return { page: parts[0], id: parts[1], query };
  return database(parts, query);
}

function database([db, page = 'docs', ...rest], query) {
  if (!DATABASE_PAGES.has(page)) return { page: 'missing', query };
  return { page, db, id: rest.length ? rest.join('/') : undefined, query };
}

/** The address of what an address means. */
export function linkOf({ page, db, id, query }) {
  return db === undefined ? serverLink(page, id, query) : link([db, page, id], query);
}

function fauxton([db, ...rest], query) {
  if (rest.length === 0 || rest[0] === '_all_docs') return { page: 'docs', db, query };
  if (rest[0] === '_changes' || rest[0] === 'changes') return { page: 'changes', db, query };
  if (rest[0] === 'permissions') return { page: 'rights', db, query };
  if (rest[0] === '_find' || rest[0] === '_index') return { page: 'query', db, query };
  if (rest[0] === '_design' && rest[2] === '_view') return { page: 'view', db, id: rest[1], query: { ...query, view: rest[3] } };
  if (rest[0] === '_design') return { page: 'doc', db, id: `_design/${rest[1]}`, query };
  return { page: 'doc', db, id: rest.join('/'), query };
}

function decode(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

/** Changes members of the query without a new entry of the history. */
export function setQuery(changes) {
  const now = read(location.hash);
  history.replaceState(history.state, '', linkOf({ ...now, query: { ...now.query, ...changes } }));
}
