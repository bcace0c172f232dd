/** The page's state in its address, behind `#`, so that ids of documents reach no log. */

const DATABASE_PAGES = new Set(['docs', 'doc', 'conflicts', 'conflict', 'settle', 'changes', 'query', 'design', 'rights', 'journal']);
const SERVER_PAGES = new Set(['login', 'users', 'server', 'activity', 'replications', 'replication']);
const OLD = { activetasks: 'activity', _config: 'server', replication: 'replications' };

/** A link to a page: its parts are encoded, and a query may follow. */
export function link(parts, query) {
  const items = Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const text = new URLSearchParams(items).toString();
  return `#/${parts.map(part => encodeURIComponent(part)).join('/')}${text ? `?${text}` : ''}`;
}

/** What an address behind `#` means: page, db, id, query. Links of Fauxton are understood, too. */
export function read(hash) {
  const [where, text = ''] = hash.replace(/^#?\/?/, '').split(/\?(.*)/s);
  const parts = where.split('/').filter(Boolean).map(decode);
  const query = Object.fromEntries(new URLSearchParams(text));
  if (parts[0] === 'database' && parts.length > 1) return fauxton(parts.slice(1), query);
  if (parts.length === 0 || parts[0] === '_all_dbs') return { page: 'databases', query };
  if (parts.length === 1 && OLD[parts[0]]) return { page: OLD[parts[0]], query };
  if (parts.length <= 2 && SERVER_PAGES.has(parts[0])) return { page: parts[0], id: parts[1], query };
  const [db, page = 'docs', ...rest] = parts;
  if (!DATABASE_PAGES.has(page)) return { page: 'missing', query };
  return { page, db, id: rest.length ? rest.join('/') : undefined, query };
}

function fauxton([db, ...rest], query) {
  if (rest.length === 0 || rest[0] === '_all_docs') return { page: 'docs', db, query };
  if (rest[0] === '_changes' || rest[0] === 'changes') return { page: 'changes', db, query };
  if (rest[0] === 'permissions') return { page: 'rights', db, query };
  if (rest[0] === '_find' || rest[0] === '_index') return { page: 'query', db, query };
  if (rest[0] === '_design') return { page: 'doc', db, id: `_design/${rest[1]}`, query };
  return { page: 'doc', db, id: rest.join('/'), query };
}

function decode(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

/** Changes members of the query without a new entry of the history. */
export function setQuery(changes) {
  const now = read(location.hash);
  const parts = now.db === undefined ? [now.page === 'databases' ? '' : now.page, now.id] : [now.db, now.page, now.id];
  history.replaceState(null, '', link(parts.filter(part => part !== undefined && part !== ''), { ...now.query, ...changes }));
}
