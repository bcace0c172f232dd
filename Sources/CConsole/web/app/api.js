/** The one way to ask the server, relative to the page, so that a proxy may add a prefix. */
import { t } from './words.js';

/** The beginning of the server's addresses. */
export const root = new URL('../', new URL('.', document.baseURI));

/** The header with the id of a request. */
export const REQUEST = 'X-Couch-Request-ID';

/** An answer that is an error. */
export class ApiError extends Error {
  constructor(status, error, reason, requestId, body) {
    super(reason || error || t.api.status(status));
    Object.assign(this, { status, error, reason, requestId, body });
  }
}

let logIn = async () => false;
let asking = null;
let logins = 0; // how often somebody has logged in over the page
let [page, turnedDown] = [0, -1];

/** Sets what asks for a password when an answer is 401; it says whether to try once more. */
export function onUnauthorized(ask) { logIn = ask; }

/** Begins a page: what was answered on the one before counts no more. */
export function beginPage() { page += 1; }

/** Whether the page may ask by itself: not while somebody is asked for a password, nor after they had none. */
export function mayAskAgain() { return !asking && turnedDown !== page; }

function logInOnce() {
  const mine = page;
  asking ??= logIn().then(isDone => {
    if (isDone) logins += 1; else turnedDown = mine;
    return isDone;
  }).finally(() => { asking = null; });
  return asking;
}

const heard = new EventTarget();
/** Calls a function with a line about each request that ended. */
export function onAnswer(listener) { heard.addEventListener('answer', event => listener(event.detail)); }

/** Calls a function after each request with whether the server was reached. */
export function onReach(listener) { heard.addEventListener('reach', event => listener(event.detail)); }

/** A path whose inserted values are encoded; the first slash of `_design/…` and `_local/…` stays. */
export function path(strings, ...values) {
  return strings.reduce((result, text, index) => result + encode(values[index - 1]) + text);
}

function encode(value) {
  return encodeURIComponent(value).replace(/^(_design|_local)%2F/, '$1/');
}

/**
 * Whether a path reaches the server as it is. Browsers and proxies resolve segments that are a dot or two, and drop an empty
 * one, so that the path of the document `.` becomes that of its database.
 */
export function isExact(where) {
  const segments = where.replace(/^\//, '').split('/');
  return segments.length === 1 && segments[0] === '' || segments.every(segment => segment !== '' && !/^(?:\.|%2e){1,2}$/i.test(segment));
}

/** The address of a path; fails for one that a browser or a proxy would change. */
export function address(where, query) {
  if (!isExact(where)) {
    throw new ApiError(0, 'unsafe_path', t.api.aNameHereIsEmpty);
  }
  const url = new URL(where.replace(/^\//, ''), root);
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined && value !== null) url.searchParams.set(name, value);
  return url;
}

/**
 * Asks, and returns status, headers, text and `json`. A status from 400 on is an `ApiError`. A 401 asks for a password once.
 * Reads are tried again when the connection is lost or the server says 503; writes never are. `DELETE` needs a `rev` in the
 * query; `whole` says that what is deleted has none: a database, an index, a session, a setting. The foot tells nothing of what is `quiet`.
 */
export async function ask(where, options = {}) {
  const { method = 'GET', query, json, text, body, headers = {}, signal, quiet = false, raw = false, whole = false, isLogin = false } = options;
  const isRead = method === 'GET' || method === 'HEAD';
  const sent = { 'X-CouchDB-WWW-Authenticate': 'Cookie', Accept: 'application/json', ...headers };
  if (method === 'DELETE' && !whole && !query?.rev) {
    throw new ApiError(0, 'no_revision', t.api.noStoredRevisionIsShown);
  }
  const url = address(where, query);
  let content = body;
  if (json !== undefined) content = JSON.stringify(json);
  if (text !== undefined) content = text;
  if (json !== undefined || text !== undefined) sent['Content-Type'] = 'application/json';
  for (let attempt = 0; ; attempt += 1) {
    let response;
    const began = performance.now();
    const before = logins;
    try {
      response = await fetch(url, { method, headers: sent, body: content, signal, credentials: 'same-origin' });
    } catch (error) {
      if (signal?.aborted) throw error;
      heard.dispatchEvent(new CustomEvent('reach', { detail: false }));
      if (isRead && attempt < 2) { await pause(500 * (attempt + 1), signal); continue; }
      throw new ApiError(0, 'unreachable', t.api.theServerDoesNotAnswer, null, null);
    }
    heard.dispatchEvent(new CustomEvent('reach', { detail: true }));
    // A request that was sent before a login may be answered after it.
    if (response.status === 401 && attempt === 0 && !isLogin && (logins > before || await logInOnce())) continue;
    if (response.status === 503 && isRead && attempt < 2) { await pause(1000, signal); continue; }
    const isRaw = raw && response.ok;
    const answer = isRaw ? '' : await response.text();
    if (!quiet) heard.dispatchEvent(new CustomEvent('answer', { detail: { method, where, status: response.status, took: performance.now() - began } }));
    if (isRaw) return response;
    if (response.status >= 400) throw failure(response, response.headers.get(REQUEST), answer);
    return { status: response.status, headers: response.headers, text: answer, get json() { return JSON.parse(answer); } };
  }
}

/** The error of an answer with a status from 400 on. */
export function failure({ status, statusText }, requestId, text) {
  let told = {};
  try { told = JSON.parse(text); } catch { /* A proxy may answer in HTML. */ }
  return new ApiError(status, told.error ?? 'error', told.reason ?? statusText, requestId, told);
}

function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener('abort', () => { clearTimeout(timer); reject(signal.reason); }, { once: true });
  });
}

/** Reads an answer line by line while it comes; `onOpen` is called when it begins. */
export async function stream(where, { query, signal, onOpen }, onLine) {
  const response = await ask(where, { query, signal, raw: true });
  onOpen();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop();
    for (const line of lines) if (line.trim()) onLine(line);
  }
}
