/** What functions make of samples half a second after the last key, before they are saved. */
import { ask, path } from '../api.js';
import { link } from '../router.js';
import { h, bdi, button, replace, field, tableHead } from '../parts/dom.js';
import { errorBox } from '../parts/panel.js';
import { understand } from '../documents/search.js';
import { parse, stringify } from '../value/json.js';
import { t } from '../words.js';

const ROWS = 50;

export function trial({ db, signal }) {
  let timer = 0;
  let turn = 0;
  let subject = null;
  let code = null;
  let kind = 'view';
  const [inputs, outcome] = [h('div', { class: 'stack' }), h('div', { class: 'stack', role: 'status' })];
  const samples = h('input', { type: 'number', min: 1, max: 100, value: 20 });
  const where = h('input', { placeholder: t.trial.samplesHint });
  const [name, roles, query] = [h('input', { placeholder: 'ben' }), h('input', { placeholder: 'staff' }), h('input', { placeholder: 'type=milk' })];
  const given = h('textarea', { rows: 4, class: 'mono', placeholder: '{"_id": "milk", "count": 3}' });

  function soon() {
    clearTimeout(timer);
    timer = setTimeout(attempt, 500);
  }

  /** Ends what is tried; its fields and its outcome go. */
  function end() {
    turn += 1;
    clearTimeout(timer);
    subject = null;
    replace(inputs);
    replace(outcome);
  }

  /** Says which function is tried now: of which kind, what is asked, and where its text stands. */
  function ofKind(next, ask, area) {
    end();
    [kind, subject, code] = [next, ask, area];
    replace(inputs,
      kind === 'rule' && [field(t.trial.tried, name), field(t.trial.withTheRoles, roles), field(t.trial.withThisNewDocument, given, t.trial.besideTheStoredOne)],
      kind === 'filter' && field('req.query', query),
      kind !== 'update' && [field(t.trial.onTheFirst, samples), field(t.trial.of, where)]);
    if (kind === 'update') replace(outcome, h('p', { class: 'muted' }, t.trial.anUpdateFunction));
    else attempt();
  }

  async function documents() {
    if (kind === 'rule' && given.value.trim()) return new Map([['given', [parse(given.value)]]]);
    const { selector, found, low } = await understand(db, where.value, signal);
    if (found) return new Map([['ids', [found.id]]]);
    const limit = ['limit', Number(samples.value) || 20];
    return new Map(selector ? [['selector', selector], limit] : [limit, ...(low === undefined ? [] : [['startkey', low]])]);
  }

  /** Runs what stands in the editor; the answer to the last attempt counts. */
  async function attempt() {
    if (kind === 'update' || !subject) return;
    const mine = ++turn;
    const { functions, modules } = subject();
    const body = new Map([['functions', functions], ['modules', modules]]);
    if (kind === 'rule') body.set('user', new Map([['name', name.value || null], ['roles', roles.value.split(',').map(role => role.trim()).filter(Boolean)]]));
    if (kind === 'filter') body.set('query', new Map(new URLSearchParams(query.value)));
    try {
      body.set('docs', await documents());
      const answer = parse((await ask(path`${db}/_try`, { method: 'POST', text: stringify(body), signal, quiet: true })).text);
      if (mine === turn) tell(answer);
    } catch (error) { if (mine === turn && error.name !== 'AbortError') replace(outcome, errorBox(error)); }
  }

  const document = id => h('a', { href: link([db, 'doc', id]) }, bdi(id));
  const pointed = value => value?.toNumber?.() ?? value;

  function mistake(error) {
    const line = pointed(error.get('line'));
    return h('p', { class: 'bad' }, error.has('id') && ['✕ ', document(error.get('id')), ': '], error.get('function') && `${error.get('function')}: `,
      line && t.trial.line(line), bdi(error.get('reason')), ' ',
      line && error.get('function') !== 'reduce' && button(t.common.goThere, () => code.showError({ line, column: 1, message: error.get('reason') }), { class: 'button small' }));
  }

  function tell(answer) {
    const [errors, rows, results, reduced, log] = ['errors', 'rows', 'results', 'reduced', 'log'].map(member => answer.get(member));
    replace(outcome,
      errors.slice(0, ROWS).map(mistake),
      h('p', {}, t.trial.ms(rows ? t.trial.partOf(t.trial.rowsCount(rows.length)) : '', t.common.documentsCount(pointed(answer.get('docs'))), errors.length ? `, ${t.trial.errorsCount(errors.length)}` : '', stringify(answer.get('milliseconds')))),
      reduced && h('p', {}, t.trial.reduced, h('span', { class: 'mono' }, bdi(stringify(reduced[0].get('value'))))),
      rows?.length > 0 && h('div', { class: 'scroll' }, h('table', {}, tableHead([t.trial.key, t.trial.value, t.common.document]), h('tbody', {}, rows.slice(0, ROWS).map(row => h('tr', {},
        h('td', {}, bdi(stringify(row.get('key')))), h('td', {}, bdi(stringify(row.get('value')))), h('td', {}, document(row.get('id')))))))),
      results?.length > 0 && h('table', {}, tableHead([t.common.document, t.trial.outcome]), h('tbody', {}, results.map(result => h('tr', {}, h('td', {}, document(result.get('id'))), verdict(result))))),
      log.length > 0 && h('details', { open: true }, h('summary', {}, t.trial.loggedLinesCount(log.length)), h('pre', {}, log.map(line => [bdi(line), '\n']))));
  }

  function verdict(result) {
    if (result.has('passes')) return h('td', { class: result.get('passes') ? 'good' : 'muted' }, result.get('passes') ? t.trial.passes : t.trial.isLeftOut);
    return h('td', { class: result.get('ok') ? 'good' : 'bad' }, result.get('ok') ? t.trial.passes : bdi(`${result.get('error')}: ${result.get('reason')}`));
  }

  for (const input of [samples, where, name, roles, query, given]) input.addEventListener('input', soon);
  return { element: h('div', { class: 'stack' }, inputs, outcome), soon, ofKind, end, stop: () => clearTimeout(timer) };
}
