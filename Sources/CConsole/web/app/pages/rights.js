/** Who may use a database. */
import { ask, path } from '../api.js';
import { h, bdi, button, head, replace } from '../parts/dom.js';
import { panel, errorBox, unsaved } from '../parts/panel.js';
import { codeArea } from '../parts/code-area.js';
import { parse } from '../value/json.js';
import { format } from '../value/json-text.js';
import { t } from '../words.js';

export default function page({ db, signal, setTitle, setSame }) {
  setTitle(t.rights.rightsTitle(db));
  setSame({ url: path`${db}/_security`, settle: ['security', [{ db }]] });
  const problems = h('div');
  const area = codeArea({ text: '{}', label: t.rights.theSecurityObject });
  const meaning = h('p');
  let stored = area.text;
  const main = panel(async () => (await ask(path`${db}/_security`, { signal })).text, show, { label: t.rights.readingTheRights });

  function show(text) {
    area.text = format(text.trim());
    stored = area.text;
    tell(JSON.parse(text));
    return [meaning, area.element];
  }

  function tell({ members = {}, admins = {} }) {
    const names = ({ names: people = [], roles = [] }) => [...people, ...roles.map(role => role === '_admin' ? t.rights.theServersAdministrators : t.rights.whoeverHasTheRole(role))];
    const [readers, keepers] = [names(members), names(admins)];
    replace(meaning, readers.length ? [t.rights.readAndWritten, bdi(readers.join(', ')), '. '] : t.rights.readAndWrittenByAnybody,
      keepers.length ? [t.rights.settingsAreChanged, bdi(keepers.join(', ')), '.'] : t.rights.settingsAreChangedByTheServers);
  }

  async function save() {
    replace(problems);
    try { parse(area.text); } catch (error) { area.showError(error); return; }
    try {
      const sent = area.text;
      await ask(path`${db}/_security`, { method: 'PUT', text: sent });
      stored = sent;
      replace(problems, h('p', { class: 'good', role: 'status' }, t.common.saved));
      tell(JSON.parse(sent));
    } catch (error) { replace(problems, errorBox(error)); }
  }

  main.reload();
  return { element: h('div', {}, head(t.common.permissions, button(t.common.save, save, { class: 'button primary' })), problems, main.element), leave: unsaved(() => area.text !== stored, signal) };
}
