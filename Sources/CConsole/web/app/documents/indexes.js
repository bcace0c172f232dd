/** A new index, as a form, and what an index has besides its members. */
import { ask, path } from '../api.js';
import { h, bdi, field } from '../parts/dom.js';
import { dialog } from '../parts/panel.js';
import { parse, stringify } from '../value/json.js';
import { t } from '../words.js';

const KINDS = { json: t.indexes.values, text: t.indexes.words };
const listOf = text => text.split(',').map(name => name.trim()).filter(Boolean);

/** What says of which documents an index is, where it is not of all. */
export function partOf(index) {
  const selector = index.def.partial_filter_selector ?? index.def.selector;
  return selector && Object.keys(selector).length > 0 && h('span', { class: 'muted' }, ` ${t.indexes.onlyWhere} `, bdi(JSON.stringify(selector)));
}

/** A filter as it was typed: a selector, or a condition. */
async function selectorOf(text) {
  if (text.startsWith('{')) return parse(text);
  return parse((await ask('_condition', { method: 'POST', json: { text } })).text).get('selector');
}

/** Asks for an index, and makes it; whether there is one more. */
export async function newIndex(db, proposed = []) {
  const kind = h('select', { on: { change: draw } }, Object.entries(KINDS).map(([value, label]) => h('option', { value }, label)));
  const names = h('input', { placeholder: 'count, name', value: proposed.join(', ') });
  const name = h('input', { autocapitalize: 'off', spellcheck: 'false' });
  const filter = h('input', { placeholder: 'done = false' });
  const hint = h('small', { class: 'muted' });
  function draw() {
    names.required = kind.value === 'json';
    hint.textContent = kind.value === 'json' ? t.indexes.theFirstOnesNarrow : t.indexes.noneMeansAllTexts;
  }
  draw();
  return await dialog({
    title: t.indexes.aNewIndex,
    body: h('div', { class: 'stack' }, field(t.query.members, names), hint, field(t.common.kind, kind), field(t.common.name, name, t.indexes.elseOneIsMade),
      field(t.indexes.onlyDocumentsWhere, filter, t.indexes.aQueryMustNameIt)),
    actions: [{ label: t.common.create, kind: 'primary', run: async () => {
      const fields = listOf(names.value);
      const index = new Map(kind.value === 'json' ? [['fields', fields]] : fields.length ? [['fields', fields.map(one => new Map([['name', one], ['type', 'string']]))]] : []);
      if (kind.value === 'text' && fields.length) index.set('default_field', new Map([['enabled', false]]));
      if (filter.value.trim()) index.set('partial_filter_selector', await selectorOf(filter.value.trim()));
      const body = new Map([['index', index], ['type', kind.value], ...(name.value.trim() ? [['name', name.value.trim()]] : [])]);
      await ask(path`${db}/_index`, { method: 'POST', text: stringify(body) }).catch(error => {
        throw error.status === 503 ? Object.assign(error, { reason: t.indexes.noneOfWords }) : error;
      });
      return true;
    } }],
  }) === true;
}
