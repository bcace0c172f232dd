/** What can be done with a replication, and its state in words. */
import { serverLink } from '../router.js';
import { h, bdi, button, replace } from '../parts/dom.js';
import { toast } from '../parts/toast.js';
import { dialog, errorBox } from '../parts/panel.js';
import { cancel, remove, restart, start, stop } from './stored.js';
import { t } from '../words.js';

const STATES = Object.freeze(t.replicationStates);
const BAD = ['crashing', 'failed', 'error'];
const ENDED = ['completed', 'failed'];

/** The state of a row of `_scheduler` in words, with its reason. */
export function stateOf(job) {
  const reason = job.info?.error;
  // Jobs have no state; they run, or have told an error.
  const state = job.state ?? (reason ? 'crashing' : job.pid ? 'running' : 'pending');
  const words = state === 'crashing' ? STATES.crashing(job.error_count) : STATES[state] ?? state;
  return [h('span', { class: `pill ${BAD.includes(state) ? 'bad' : state === 'paused' ? '' : 'good'}` }, words), reason && ['. ', bdi(reason)]];
}

const busy = new Set(); // replications with which something is being done, although their rows are drawn again

/** The buttons of a replication; the short ones of a row have its name for those who can't see the row. */
export function actionsOf(job, { isShort = false, problems, onDone, onRemoved = onDone }) {
  const { database, doc_id: name, id } = job;
  const one = `${database} ${name ?? id}`;
  const act = (label, words, run, done = onDone) => button(label, async event => {
    const pressed = event.currentTarget;
    const all = [...event.currentTarget.parentElement.querySelectorAll('button')];
    replace(problems);
    busy.add(one);
    for (const other of all) other.disabled = true;
    try {
      if (await run().finally(() => busy.delete(one)) !== null) { toast(words(name ?? id)); await done(); }
    } catch (error) { replace(problems, errorBox(error)); }
    for (const other of all) other.disabled = false;
    if (document.activeElement === document.body) (pressed.isConnected ? pressed : document.getElementById('main')).focus({ preventScroll: true });
  }, { disabled: busy.has(one), ...(isShort && { class: 'button small', 'aria-label': t.replicationActions.of(label, name ?? id) }) });

  const ask = (title, text, action, run) => dialog({
    title, body: h('p', {}, text), actions: [{ label: action, kind: 'danger', run: async () => { await run(); return true; } }],
  }).then(isDone => isDone ?? null);

  if (name === null) {
    const deed = t.replicationActions.cancelIt;
    return act(t.replicationActions.cancel, t.replicationActions.isCanceled, () => ask(deed, t.replicationActions.noDocumentKeepsIt, deed, () => cancel(id)), onRemoved);
  }
  return [
    job.state === 'paused' ? act(t.replicationActions.start, t.replicationActions.isStarted, () => start(database, name))
      : !ENDED.includes(job.state) && act(t.replicationActions.stop, t.replicationActions.isStopped, () => stop(database, name)), ' ',
    !isShort && job.state !== 'paused' && [act(t.replicationActions.restart, t.replicationActions.isRestarted, () => restart(database, name, ENDED.includes(job.state) ? null : id)), ' '],
    !isShort && [h('a', { class: 'button', href: serverLink('replicate', `${database}/${name}`) }, t.replicationActions.edit), ' '],
    act(t.common.removeButton, t.replicationActions.isRemoved,
      () => ask(t.common.removeOfName(name), t.replicationActions.theReplicationStops, t.common.remove, () => remove(database, name)), onRemoved),
  ];
}
