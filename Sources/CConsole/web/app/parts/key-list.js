/**
 * A table of any length, read by pages of keys. A thousand rows are kept and those in sight stand in the DOM; what is dropped
 * is read again, forwards and backwards.
 *
 *     front ┊ pages that are kept, a window of at most 60 rows of them drawn ┊ next
 */
import { h, button, replace } from './dom.js';
import { errorBox, stateBox } from './panel.js';
import { number, t } from '../words.js';

const PAGE = 200;
const KEPT = 5; // pages
const DRAWN = 60; // rows
const STEP = 8; // rows by which the drawn ones move on
const NEAR = 20; // rows from an end where the page behind it is read

/**
 * Makes a table.
 *
 * @param load reads a page from a key on, `null` for the first: `{rows, next}`, `next` is the key behind it, `null` at the end
 * @param loadBefore reads the rows before a row in the order of the list: `{rows, isFirst}`; without it pages are read again by
 *   the keys that they began with
 * @param isFirst whether the first page is the beginning of everything
 * @param row makes a `tr` of a row
 * @param key tells the key of a row
 * @param columns heads of columns
 * @param onSight hears of the rows in the DOM
 */
export function keyList({ load, loadBefore, isFirst = true, row, key, label, columns, empty, onSight }) {
  const [above, below] = [h('div'), h('div')];
  const body = h('tbody');
  const head = h('thead', {}, h('tr', { 'aria-rowindex': 1 }, columns.map(column => h('th', { scope: 'col' }, column))));
  const table = h('table', { 'aria-label': label, hidden: true }, head, body);
  const scroller = h('div', { class: 'key-list', tabindex: '0', role: 'region', 'aria-label': t.keyList.rows(label) }, above, table, below);
  const range = h('span', { class: 'muted', role: 'status' });
  const earlier = button(t.keyList.earlier, () => before(), { hidden: true });
  const more = button(t.common.more, () => after(), { hidden: true });
  const note = h('div');
  const pager = h('div', { class: 'toolbar' }, range, earlier, more);

  let pages = []; // {start, rows}, those that are kept
  let starts = []; // {start, count} of pages in front of them, where there is no `loadBefore`
  let front = isFirst ? 0 : null; // rows in front of the kept ones, `null` where nobody knows
  let next = null;
  let rowHeight = 0;
  let lastTop = 0;
  let keys = []; // of the rows in the DOM
  let drawn = { first: -1, last: -1 };
  let work = null;
  let turn = 0;
  let isPressed = false; // a row; it stays until it is let go, or the click would be lost
  let isDue = false;

  const rows = () => pages.flatMap(page => page.rows);
  const controls = element => [...element.querySelectorAll('a[href], button, input')];

  function draw(isForced = false) {
    const all = rows();
    const height = rowHeight || 34;
    const inSight = Math.ceil(scroller.clientHeight / height) || 30;
    const spare = Math.max(2, Math.floor((DRAWN - inSight) / 2));
    const at = Math.floor(scroller.scrollTop / height);
    const first = Math.max(0, Math.min(Math.floor((at - spare) / STEP) * STEP, all.length - DRAWN));
    const last = Math.min(all.length, first + DRAWN);
    if (!isForced && first === drawn.first && last === drawn.last) return;
    isDue = isForced && isPressed;
    if (isDue) return;
    const focused = place();
    drawn = { first, last };
    replace(body, all.slice(first, last).map((item, index) => {
      const line = row(item);
      line.setAttribute('aria-rowindex', (front ?? 0) + first + index + 2);
      return line;
    }));
    table.setAttribute('aria-rowcount', front === null || next !== null ? -1 : front + all.length + 1);
    if (last > first) rowHeight = body.getBoundingClientRect().height / (last - first) || rowHeight;
    above.style.blockSize = `${first * rowHeight}px`;
    below.style.blockSize = `${(all.length - last) * rowHeight}px`;
    keys = all.slice(first, last).map(key);
    restore(focused);
    onSight?.(all.slice(first, last));
  }

  /** Where the focus is: the row's key and the number of the control in it. */
  function place() {
    const index = [...body.children].findIndex(child => child.contains(document.activeElement));
    return index < 0 ? null : { key: keys[index], control: controls(body.children[index]).indexOf(document.activeElement) };
  }

  function restore(focused) {
    if (!focused) return;
    const found = body.children[keys.indexOf(focused.key)];
    if (found) controls(found)[focused.control]?.focus({ preventScroll: true }); else scroller.focus({ preventScroll: true });
  }

  function show() {
    const { length } = rows();
    replace(range, length === 0 ? '' : front === null ? t.keyList.rowsOfA(number(length)) : t.keyList.rowRange(number(front + 1), number(front + length)));
    earlier.hidden = front === 0 || length === 0;
    more.hidden = next === null;
    table.hidden = length === 0;
    draw(true);
  }

  /** Runs one reading at a time; one that a newer reload has overtaken is forgotten. */
  function once(read) {
    if (work) return work;
    const mine = turn;
    const isOld = () => mine !== turn;
    const waiting = setTimeout(() => replace(range, t.keyList.reading), 150);
    scroller.setAttribute('aria-busy', 'true');
    work = read().then(apply => {
      if (isOld()) return;
      replace(note);
      apply();
      if (rows().length === 0) replace(note, stateBox({ title: empty }));
    }).catch(error => {
      if (!isOld() && error.name !== 'AbortError') replace(note, errorBox(error, () => once(read)));
    }).finally(() => {
      clearTimeout(waiting);
      if (isOld()) return;
      work = null;
      scroller.removeAttribute('aria-busy');
      show();
    });
    return work;
  }

  function reload() {
    turn += 1;
    work = null;
    const start = pages.length ? pages[0].start : null;
    const top = scroller.scrollTop;
    const wanted = Math.max(1, pages.length);
    return once(async () => {
      const fresh = [];
      let from = start;
      for (let index = 0; index < wanted; index += 1) {
        const page = await load(from, PAGE);
        fresh.push({ start: from, rows: page.rows });
        from = page.next;
        if (from === null) break;
      }
      return () => {
        [pages, next] = [fresh, from];
        if (front === 0 && start !== null) front = null;
        draw(true);
        scroller.scrollTop = top;
      };
    });
  }

  function after() {
    if (next === null) return work;
    const start = next;
    return once(async () => {
      const page = await load(start, PAGE);
      return () => {
        pages.push({ start, rows: page.rows });
        next = page.next;
        while (pages.length > KEPT) {
          const gone = pages.shift();
          if (!loadBefore) starts.push({ start: gone.start, count: gone.rows.length });
          if (front !== null) front += gone.rows.length;
          scroller.scrollTop -= gone.rows.length * rowHeight;
        }
      };
    });
  }

  function before() {
    const first = pages[0]?.rows[0];
    if (front === 0 || first === undefined) return work;
    return once(async () => {
      if (loadBefore) {
        const page = await loadBefore(key(first), PAGE);
        return () => {
          // Others may have written in front meanwhile; then nobody knows how many rows are there.
          const left = front === null ? null : front - page.rows.length;
          front = page.isFirst ? 0 : left > 0 ? left : null;
          if (page.rows.length) put(key(page.rows[0]), page.rows);
        };
      }
      const { start } = starts.at(-1);
      const page = await load(start, PAGE);
      return () => {
        front -= starts.pop().count;
        put(start, page.rows);
      };
    });
  }

  function put(start, found) {
    pages.unshift({ start, rows: found });
    const top = scroller.scrollTop + found.length * rowHeight;
    while (pages.length > KEPT) next = pages.pop().start;
    isPressed = false;
    draw(true);
    scroller.scrollTop = top;
    lastTop = top;
  }

  /** Moves the focus to the row below or above. */
  function move(step) {
    const focused = place();
    const index = focused ? drawn.first + keys.indexOf(focused.key) + step : Math.ceil(scroller.scrollTop / rowHeight);
    if (index < 0 || index >= rows().length) return;
    const top = index * rowHeight;
    const room = scroller.clientHeight - head.offsetHeight;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    else if (top + rowHeight > scroller.scrollTop + room) scroller.scrollTop = top + rowHeight - room;
    draw();
    const reached = body.children[index - drawn.first];
    const inRow = reached ? controls(reached) : [];
    (inRow[focused?.control] ?? reached?.querySelector('a[href]') ?? inRow[0])?.focus({ preventScroll: true });
  }

  const ends = ['pointerup', 'pointercancel', 'contextmenu', 'blur'];
  function letGo() {
    for (const name of ends) window.removeEventListener(name, letGo);
    // After the click, which a finger makes a moment later.
    setTimeout(() => {
      isPressed = false;
      if (isDue) draw(true);
    }, 50);
  }
  body.addEventListener('pointerdown', event => {
    if (!event.isPrimary || event.button !== 0) return;
    isPressed = true;
    for (const name of ends) window.addEventListener(name, letGo);
  });

  scroller.addEventListener('scroll', () => {
    draw();
    const isUp = scroller.scrollTop < lastTop;
    lastTop = scroller.scrollTop;
    const rest = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
    if (scroller.scrollTop < NEAR * rowHeight && (isUp || scroller.scrollTop === 0)) before();
    else if (!isUp && rest < NEAR * rowHeight) after();
  }, { passive: true });
  scroller.addEventListener('wheel', event => { if (event.deltaY < 0 && scroller.scrollTop === 0) before(); }, { passive: true });
  scroller.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if ((event.key === 'Home' || event.key === 'PageUp') && scroller.scrollTop === 0) before();
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    move(step);
  });
  const resized = new ResizeObserver(() => draw(rowHeight === 0));
  resized.observe(scroller);
  reload();

  return {
    element: h('div', { class: 'stack' }, scroller, note, pager),
    /** What stands below the rows: their numbers, and buttons for more. */
    pager,
    /** The rows that are kept. */
    rows,
    reload,
    more: after,
    /** Draws the rows in the DOM again. */
    refresh: () => draw(true),
    /** The first row in sight, `null` at the beginning of everything. */
    first() {
      if (front === 0 && scroller.scrollTop < rowHeight) return null;
      return rows()[Math.floor(scroller.scrollTop / (rowHeight || 34))] ?? null;
    },
    leave() {
      turn += 1;
      resized.disconnect();
    },
  };
}
