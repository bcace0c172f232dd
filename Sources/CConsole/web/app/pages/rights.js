/** Who may use a database. */
import { ask, path } from '../api.js';
import { h, bdi, button, replace } from '../parts/dom.js';
import { panel, errorBox } from '../parts/panel.js';
import { codeArea } from '../parts/code-area.js';
import { parse } from '../value/json.js';
import { format } from '../value/json-text.js';

export default function page({ db, signal, setTitle, setSame }) {
  setTitle(`${db}: rights`);
  setSame({ url: `${encodeURIComponent(db)}/_security` });
  const problems = h('div');
  const area = codeArea({ text: '{}', label: 'The security object' });
  const meaning = h('p');
  const main = panel(async () => (await ask(path`${db}/_security`, { signal })).text, show, { label: 'Reading the rights' });

  function show(text) {
    area.text = format(text.trim());
    tell(JSON.parse(text));
    return [meaning, area.element];
  }

  function tell({ members = {}, admins = {} }) {
    const names = ({ names: people = [], roles = [] }) => [...people, ...roles.map(role => role === '_admin' ? 'the server’s administrators' : `whoever has the role ${role}`)];
    const [readers, keepers] = [names(members), names(admins)];
    replace(meaning, readers.length ? ['Read and written by ', bdi(readers.join(', ')), '. '] : 'Read and written by anybody whom the server lets in. ',
      keepers.length ? ['Settings are changed by ', bdi(keepers.join(', ')), '.'] : 'Settings are changed by the server’s administrators.');
  }

  async function save() {
    replace(problems);
    try { parse(area.text); } catch (error) { area.showError(error); return; }
    try {
      await ask(path`${db}/_security`, { method: 'PUT', text: area.text });
      replace(problems, h('p', { class: 'good', role: 'status' }, 'Saved.'));
      tell(JSON.parse(area.text));
    } catch (error) { replace(problems, errorBox(error)); }
  }

  main.reload();
  return { element: h('div', {}, h('h1', {}, 'Rights'), problems, main.element, h('div', { class: 'toolbar' }, button('Save', save, { class: 'button primary' }))) };
}
