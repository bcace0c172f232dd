/** Design documents: their functions, and what these make of samples before they are saved. */
import { ask, path } from '../api.js';
import { link } from '../router.js';
import { h, bdi, button, field, tableHead } from '../parts/dom.js';
import { panel } from '../parts/panel.js';
import { dialog } from '../parts/dialog.js';
import { saveDocument } from '../documents/writing.js';
import { one } from '../design/document.js';

export default function page({ db, id, signal, setTitle, setSame, setKeys }) {
  return id === undefined ? list() : one({ db, id, signal, setTitle, setSame, setKeys });

  function list() {
    setTitle(`${db}: design documents`);
    setSame({ url: `${encodeURIComponent(db)}/_design_docs?include_docs=true`, settle: `settle design list URL/${db}` });
    const all = panel(async () => (await ask(path`${db}/_design_docs`, { query: { include_docs: true, limit: 200 }, signal })).json.rows, rows => rows.length === 0
      ? h('p', { class: 'muted' }, 'There is no design document yet.')
      : h('table', { class: 'cards' }, tableHead(['Name', 'Language', 'Views', 'Filters', 'Updates', 'Rule']), h('tbody', {}, rows.map(({ id: whole, doc }) => h('tr', {},
        h('th', { scope: 'row' }, h('a', { href: doc.language === 'query' ? link([db, 'query']) : link([db, 'design', whole.slice(8)]) }, bdi(whole.slice(8)))),
        h('td', { 'data-label': 'language' }, doc.language ?? 'javascript'), ['views', 'filters', 'updates'].map(kind => h('td', { 'data-label': kind }, bdi(Object.keys(doc[kind] ?? {}).filter(name => name !== 'lib').join(', ')))),
        h('td', { 'data-label': 'rule' }, doc.validate_doc_update ? 'yes' : 'no'))))), { label: 'Reading the design documents' });
    const create = async () => {
      const name = h('input', { required: true });
      const made = await dialog({
        title: 'A new design document', body: field('Name', name),
        actions: [{ label: 'Create', kind: 'primary', run: async () => { await saveDocument(db, `_design/${name.value}`, '{"views":{}}'); return name.value; } }],
      });
      if (made) location.hash = link([db, 'design', made]);
    };
    all.reload();
    return { element: h('div', {}, h('h1', {}, 'Design documents'), h('div', { class: 'toolbar' }, button('+ New', create)), all.element) };
  }
}
