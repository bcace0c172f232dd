/** The address, the curl and the settle line that do what the page does, each on a tab. */
import { h, button, replace } from './dom.js';
import { commands } from './command.js';
import { t } from '../words.js';

const TABS = { address: t.commandPanel.address, curl: 'curl', settle: 'settle' };

/** Writes what a page does into a place; `doing` is what `commands` takes. */
export function commandPanel(place, doing) {
  const lines = commands(doing);
  const kindOf = line => line.startsWith('curl ') ? 'curl' : line.startsWith('settle ') ? 'settle' : 'address';
  const there = new Map(lines.map(line => [kindOf(line), line]));
  let chosen = localStorage.getItem('command') ?? 'curl';
  if (!there.has(chosen)) [chosen] = there.keys();
  const text = h('pre', { tabindex: '0', role: 'region', 'aria-label': t.main.commandLine });
  const copy = button(t.commandPanel.copy, async () => { await navigator.clipboard.writeText(there.get(chosen)); copy.textContent = t.commandPanel.copied; }, { class: 'button small end' });
  const tabs = [...there.keys()].map(kind => button(TABS[kind], () => choose(kind)));
  function choose(kind) {
    chosen = kind;
    localStorage.setItem('command', kind);
    text.textContent = there.get(kind);
    copy.textContent = t.commandPanel.copy;
    tabs.forEach((tab, index) => tab.setAttribute('aria-pressed', String([...there.keys()][index] === kind)));
  }
  choose(chosen);
  replace(place, h('div', { class: 'toolbar' }, h('div', { class: 'seg' }, tabs), navigator.clipboard && copy), text);
}
