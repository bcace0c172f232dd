/** Sends a file to `_import` of a database, and reads the lines of the answer while they come. */
import { address, ApiError, ask, failure, path, REQUEST } from '../api.js';
import { t } from '../words.js';

const BEGINNING = 1 << 20; // bytes of a text in lines that are enough for a preview
const IN_LINES = /\.(?:jsonl|ndjson|csv|tsv|tab|txt)$/i;

/** The first whole lines of a long text, for a preview; `null` where the whole file is needed. */
export async function beginningOf(file) {
  if (file.size <= BEGINNING || !IN_LINES.test(file.name)) return null;
  const bytes = new Uint8Array(await file.slice(0, BEGINNING).arrayBuffer());
  const end = bytes.lastIndexOf(10);
  // What is compressed, or has two bytes for a character, has no lines here.
  return bytes.includes(0) || bytes[0] === 0x1f || end < 0 ? null : file.slice(0, end + 1);
}

/**
 * Sends a file until a signal; returns the text of the answer to a dry run, and otherwise the result of the import.
 *
 * @param onSent is called with how many bytes were sent
 * @param onLine is called with each line about progress and refused documents
 */
export async function sendFile(db, file, query, { signal, onSent, onLine }) {
  // Whoever has to log in again does so before the file is sent.
  await ask(path`${db}`, { signal, quiet: true });
  const [{ promise, resolve, reject }, request] = [Promise.withResolvers(), new XMLHttpRequest()];
  let [at, isSent, last] = [0, false, {}];
  const read = () => {
    if (request.status !== 200 || query.dry_run) return;
    const text = request.responseText;
    for (let end; (end = text.indexOf('\n', at)) >= 0; at = end + 1) {
      const line = JSON.parse(text.slice(at, end));
      if (line.result || line.reason !== undefined) last = line; else onLine(line);
    }
  };
  request.open('POST', address(path`${db}/_import`, query));
  const headers = { 'Content-Type': 'application/octet-stream', Accept: 'application/json', 'X-CouchDB-WWW-Authenticate': 'Cookie' };
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
  request.upload.onprogress = ({ loaded }) => onSent(loaded);
  request.upload.onload = () => { isSent = true; };
  request.onprogress = read;
  const cut = () => !isSent ? t.files.sendingIsCut : query.dry_run ? t.api.theServerDoesNotAnswer : t.files.answerIsCut;
  request.onerror = () => reject(new ApiError(0, 'unreachable', cut()));
  request.onload = () => {
    if (request.status !== 200) { reject(failure(request, request.getResponseHeader(REQUEST), request.responseText)); return; }
    read();
    if (query.dry_run) resolve(request.responseText);
    else if (last.result) resolve(last.result);
    else reject(new ApiError(0, last.error ?? 'unreachable', last.reason ?? t.files.answerIsCut));
  };
  signal.addEventListener('abort', () => { request.abort(); reject(signal.reason); }, { once: true });
  signal.throwIfAborted();
  request.send(file);
  return promise;
}
