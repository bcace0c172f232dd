/** A text beside the one it comes from, by lines: a sign says what became of each, and a colour repeats it. */
import { h, bdi } from './dom.js';
import { lineChanges } from '../value/lines.js';
import { t } from '../words.js';

const AROUND = 2; // equal lines that stay before and after a change
const MOST = 2000; // lines that are drawn
const FORMS = { same: ['span', '  '], removed: ['del', '− '], added: ['ins', '+ '] };

/** The lines of two texts; `label` says what they are. */
export function lineTable(before, after, label = t.lineTable.byLinesAgainstTheBase) {
  const changes = lineChanges(before, after);
  const isNear = changes.map((_, index) => changes.slice(Math.max(0, index - AROUND), index + AROUND + 1).some(one => one.kind !== 'same'));
  const rows = [];
  for (let index = 0; index < changes.length && rows.length < MOST; index += 1) {
    const folded = isNear.indexOf(true, index);
    const next = folded < 0 ? changes.length : folded;
    if (next > index) {
      rows.push(h('span', { class: 'muted' }, t.lineTable.theSame(t.lineTable.linesCount(next - index))));
      index = next - 1;
      continue;
    }
    const [name, sign] = FORMS[changes[index].kind];
    rows.push(h(name, {}, sign, bdi(changes[index].text)));
  }
  const rest = rows.length < MOST ? 0 : changes.length;
  return h('div', { class: 'by-lines mono', role: 'group', tabindex: '0', 'aria-label': label }, rows,
    rest > 0 && h('span', { class: 'muted' }, t.lineTable.theFirst(t.lineTable.linesCount(rest))));
}
