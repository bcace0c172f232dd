/** What the server is doing. */
import { ask } from '../api.js';
import { h, bdi, head } from '../parts/dom.js';
import { panel, stateBox } from '../parts/panel.js';
import { moment, t } from '../words.js';

export default function page({ signal, setTitle, setSame }) {
  setTitle(t.common.activity);
  setSame({ url: '_active_tasks' });
  const list = panel(async () => (await ask('_active_tasks', { signal, quiet: true })).json, show, { label: t.activity.readingTheTasks, again: 2000, signal });

  function show(tasks) {
    if (tasks.length === 0) return stateBox({ art: 'together', title: t.activity.nothingIsBeingDone });
    return h('ul', { class: 'stack' }, tasks.map(task => h('li', { class: 'card', 'data-key': task.replication_id ?? task.pid ?? task.database },
      h('strong', {}, task.type.replaceAll('_', ' ')), ' ', bdi([task.database, task.design_document, task.source && `${task.source} → ${task.target}`].filter(Boolean).join(' ')), ' ',
      typeof task.progress === 'number' && [h('progress', { max: 100, value: task.progress, 'aria-label': t.common.progress }), ` ${task.progress} % `],
      task.docs_written !== undefined && t.activity.documentsWritten(task.docs_written),
      task.started_on && h('span', { class: 'muted' }, t.activity.since(moment(task.started_on * 1000))))));
  }

  list.reload();
  return { element: h('div', {}, head(t.common.activity), list.element) };
}
