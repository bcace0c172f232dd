/** The throw-away databases of the demonstration: two devices with a server between them. */
import { ask, path } from '../api.js';
import { readNames } from '../names.js';
import { saveDocument } from '../documents/writing.js';
import { parse } from '../value/json.js';

export const DOCUMENT = 'item';
export const DEVICES = ['anna', 'ben'];
const ALL = ['server', ...DEVICES];
const NAME = /^play-([0-9a-z]{8})-(?:anna|ben|server)$/;
/** Only databases that have it are ever deleted here. */
const MARK = '_local/settle-play';

/** The names of the databases of a visit. */
export function namesOf(token) { return Object.fromEntries(ALL.map(who => [who, `play-${token}-${who}`])); }

async function found(url, options) {
  try { return await ask(url, { quiet: true, ...options }); } catch (error) {
    if (error.status === 404) return null;
    throw error;
  }
}

const markOf = async (db, signal) => (await found(path`${db}/${MARK}`, { signal }))?.json;

/** Makes the databases of a new visit, and returns its token. */
export async function create() {
  const token = [...crypto.getRandomValues(new Uint8Array(8))].map(byte => (byte % 36).toString(36)).join('');
  for (const db of Object.values(namesOf(token))) {
    await ask(path`${db}`, { method: 'PUT' });
    await ask(path`${db}/${MARK}`, { method: 'PUT', json: { began: Date.now() }, quiet: true });
  }
  return token;
}

/** The databases of earlier visits, by their tokens. */
export async function leftOver(signal) {
  const names = (await readNames({ prefix: 'play-', signal, quiet: true })).names.filter(name => NAME.test(name));
  const visits = new Map();
  for (const name of names) {
    const mark = await markOf(name, signal);
    if (!mark) continue;
    const token = NAME.exec(name)[1];
    visits.set(token, { token, began: mark.began, names: [...(visits.get(token)?.names ?? []), name] });
  }
  return [...visits.values()].map(visit => ({ ...visit, isWhole: visit.names.length === ALL.length })).sort((left, right) => right.began - left.began);
}

/** Deletes databases of the demonstration. */
export async function remove(names) {
  for (const name of names) {
    if (await markOf(name)) await found(path`${name}`, { method: 'DELETE', whole: true });
  }
}

/** What a database has of the document: its winner, and what the server tells of its leaves. */
export async function read(db, signal) {
  const [doc, told] = await Promise.all([
    found(path`${db}/${DOCUMENT}`, { signal }),
    found(path`${db}/_conflicts/${DOCUMENT}`, { query: { policies: true }, signal }),
  ]);
  return { db, doc: doc?.json ?? null, told: told && parse(told.text), tree: told?.json.tree };
}

/** Writes fields over those of the document that is there. */
export function write(db, doc, fields) {
  return saveDocument(db, DOCUMENT, JSON.stringify({ ...doc, _id: DOCUMENT, ...fields }));
}

/** Has the server replicate between two of its databases; the number of documents that it wrote. */
export async function replicate(source, target) {
  const answer = (await ask('_replicate', { method: 'POST', json: { source, target } })).json;
  return answer.no_changes ? 0 : answer.history[0].docs_written;
}

/** Settles the document, or says with `isDry` what that would do. */
export async function settle(db, told, policy, isDry) {
  const leaves = told.get('leaves').map(leaf => leaf.get('rev'));
  return parse((await ask(path`${db}/_settle/${DOCUMENT}`, { method: 'POST', json: { policy, leaves, dry_run: isDry } })).text);
}
