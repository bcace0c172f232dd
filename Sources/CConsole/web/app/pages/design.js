/** Design documents: their functions, and what these make of samples before they are saved. */
import { ask, path } from '../api.js';
import { link } from '../router.js';
import { h, bdi, button, field, head, icon, tableHead } from '../parts/dom.js';
import { panel, dialog, stateBox } from '../parts/panel.js';
import { saveDocument } from '../documents/writing.js';
import { one } from '../design/document.js';
import { t } from '../words.js';

export default function page({ db, id, signal, setTitle, setSame, setKeys }) {
  return id === undefined ? list() : one({ db, id, signal, setTitle, setSame, setKeys });

  function list() {
    setTitle(t.design.designDocumentsTitle(db));
    setSame({ url: path`${db}/_design_docs`, query: { include_docs: true }, settle: ['design', ['list', { db }]] });
    const all = panel(async () => (await ask(path`${db}/_design_docs`, { query: { include_docs: true }, signal })).json.rows, rows => rows.length === 0
      ? stateBox({ title: t.design.thereIsNoDesignDocument })
      : h('div', { class: 'scroll' }, h('table', { class: 'cards' }, tableHead([t.common.name, t.design.language, t.design.views, t.design.filters, t.design.updates, t.design.ruleColumn]), h('tbody', {}, rows.map(({ id: whole, doc }) => h('tr', {},
        h('th', { scope: 'row' }, h('a', { href: doc.language === 'query' ? link([db, 'query']) : link([db, 'design', whole.slice(8)]) }, bdi(whole.slice(8)))),
        h('td', { 'data-label': t.design.languageLabel }, doc.language ?? 'javascript'), ['views', 'filters', 'updates'].map(kind => h('td', { 'data-label': t.design[kind] }, Object.keys(doc[kind] ?? {}).filter(name => name !== 'lib').map((name, index) => [index > 0 && ', ',
          kind === 'views' && doc.language !== 'query' ? h('a', { href: link([db, 'view', whole.slice(8)], { view: name }), 'aria-label': t.view.rowsOf(name) }, bdi(name)) : bdi(name)]))),
        h('td', { 'data-label': t.design.rule }, doc.validate_doc_update ? t.design.yes : t.design.no)))))), { label: t.design.readingTheDesignDocuments });
    const create = async () => {
      const name = h('input', { required: true });
      const made = await dialog({
        title: t.design.aNewDesignDocument, body: field(t.common.name, name),
        actions: [{ label: t.common.create, kind: 'primary', run: async () => { const made = name.value; await saveDocument(db, `_design/${made}`, '{"views":{}}'); return made; } }],
      });
      if (made) location.hash = link([db, 'design', made]);
    };
    all.reload();
    return { element: h('div', {}, head(t.common.designDocuments, button([icon('plus'), t.design.new], create, { class: 'button primary' })), all.element) };
  }
}
